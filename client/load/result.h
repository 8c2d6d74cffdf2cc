// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load measured.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/load/histogram.h"
#include "client/load/sample.h"

namespace gdnplan::load {

// One second of it.
struct Interval {
  double start_s = 0;  // from the end of the warm-up
  double seconds = 0;
  Histogram latency;
  uint64_t errors = 0;
};

// Sums over all of it, and:
struct Result : Sample {
  // Every option with its value, versions, the server's and the session's devices: for people who
  // compare two results.
  nlohmann::ordered_json parameters;

  double seconds = 0;    // measured, without the warm-up
  uint64_t skipped = 0;  // open loop: starts that were never made; nobody counts them yet
  // Goodput is the rate of the plans whose latency is no longer. 0: none was asked for.
  int64_t objective_ns = 0;
  std::vector<Interval> timeline;

  double rate() const { return seconds > 0 ? static_cast<double>(plans) / seconds : 0; }
  double goodput() const {
    return seconds > 0 ? static_cast<double>(latency.CountAtMost(objective_ns)) / seconds : 0;
  }
  uint64_t num_errors() const {
    uint64_t sum = 0;
    for (const auto& [code, count] : errors) sum += count;
    return sum;
  }
};

}  // namespace gdnplan::load
