// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The options of `gdnplan load`.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/options.h"
#include "client/load/workload.h"
#include "client/tool/load_verdict.h"
#include "client/tool/workload_flags.h"

namespace gdnplan::tool {

struct LoadFlags {
  load::WorkloadOptions workload;

  int sessions = 1;
  int connections = 0;  // 0: one for each session
  std::string transport = "stream";
  bool poll = false;
  std::vector<std::string> devices;
  int concurrency = 0;  // 0: one for each session
  double rate = 0;      // 0: closed loop
  bool poisson = false;
  bool paced = false;
  uint64_t seed = 1;

  double duration_s = 10;
  uint64_t steps = 0;
  std::optional<double> warm_up_s;  // absent: a second, or none with --once
  double stable_percent = 0;        // 0: one window
  int max_windows = 10;

  std::string verify = "sample";
  std::string mismatch_dir = ".";

  std::string json_file;
  std::string csv_file;
  std::string html_file;
  Gates gates;
  std::string sweep;
  std::vector<std::string> compare;

  double warm_up() const { return warm_up_s.value_or(workload.once ? 0 : 1); }
};

void AddLoadFlags(CLI::App& command, LoadFlags& flags);
// After parsing: flags that would not do what they say, for what else was given. WrongUsage.
absl::Status CheckTogether(const CLI::App& command, const LoadFlags& flags);

// One load: all of the flags, or one value of their sweep.
struct LoadToRun {
  LoadFlags flags;
  load::LoadOptions options;
  std::string value;  // of the sweep's parameter
};
// Everything that can be checked without a server is. WrongUsage, or the error of a trace's file.
absl::StatusOr<std::vector<LoadToRun>> LoadsOf(const LoadFlags& flags);
// "concurrency" or "rate".
std::string SweptParameter(const LoadFlags& flags);

// Every option with its value.
nlohmann::ordered_json ParametersOf(const LoadFlags& flags);

}  // namespace gdnplan::tool
