// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The server's command line, environment and configuration file.
#pragma once

#include <chrono>
#include <string>
#include <variant>

#include "server/log.h"
#include "server/server.h"

namespace gdnplan::server {

struct Options {
  ServerOptions server;
  std::string log_level = "info";
  LogFormat log_format = LogFormat::kText;
  std::chrono::milliseconds drain{5000};  // for requests under way as it shuts down
  int min_pid = 1000;  // of a server that may use CUDA, see TakeDistantPid; 0: any
};

// The options, or the status to exit with: help and version were printed, or an error was.
std::variant<Options, int> ParseOptions(int argc, const char* const* argv);

}  // namespace gdnplan::server
