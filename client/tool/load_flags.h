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
#include "client/tool/workload_flags.h"

namespace gdnplan::tool {

// One of these is swept.
struct Sweep {
  std::string parameter;  // "concurrency" or "rate"
  std::vector<double> values;
};

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
  double warm_up_s = 1;
  double stable_percent = 0;  // 0: one window
  int max_windows = 10;

  std::string verify = "sample";
  std::string mismatch_dir = ".";

  std::string json_file;
  std::string csv_file;
  std::string html_file;
  std::optional<double> max_p99_us;
  std::optional<double> min_rate;
  std::optional<uint64_t> max_errors;
  std::string sweep;
  std::vector<std::string> compare;
};

void AddLoadFlags(CLI::App& command, LoadFlags& flags);

// InvalidArgument names the option.
absl::StatusOr<load::LoadOptions> OptionsOf(const LoadFlags& flags);
absl::StatusOr<Sweep> ParseSweep(const std::string& text);
// Every option with its value.
nlohmann::ordered_json ParametersOf(const LoadFlags& flags);

}  // namespace gdnplan::tool
