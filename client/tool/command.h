// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the tool's subcommands share.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"

namespace gdnplan::tool {

// Exit statuses. docs/load.md has those of `load` in one table.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;     // nothing was sent; see usage.h
inline constexpr int kMismatch = 2;  // load: a plan was wrong
inline constexpr int kGate = 3;      // load: a figure is not as it was asked to be

// Options of every subcommand.
struct Connection {
  std::string server;  // empty: wire::DefaultAddress()
  double connect_timeout_s = 1;
  double timeout_s = 30;
  client::TlsOptions tls;
  std::string token_file;

  std::string address() const;
  client::ClientOptions options() const;
  std::chrono::milliseconds timeout() const;
  absl::StatusOr<client::Client> Connect() const;
  // As client::CheckHealth.
  absl::Status CheckHealth() const;
};

// Runs the chosen subcommand: its exit status, or the error to print.
using Action = std::function<absl::StatusOr<int>()>;

// Each adds its subcommand to `app` and sets `action` when it is chosen. All of these outlive
// parsing.
void AddHealthCommand(CLI::App& app, const Connection& connection, Action& action);
void AddInfoCommand(CLI::App& app, const Connection& connection, Action& action);
void AddLoadCommand(CLI::App& app, const Connection& connection, Action& action);
void AddPlanCommand(CLI::App& app, const Connection& connection, Action& action);
void AddVerifyCommand(CLI::App& app, const Connection& connection, Action& action);

}  // namespace gdnplan::tool
