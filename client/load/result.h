// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load measured.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
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

// A session that was lost, or that answered nothing.
struct Failure {
  int session = 0;     // from 1
  uint64_t plans = 0;  // before
  double after_s = 0;  // from the end of the warm-up
  std::string call;    // the last that failed, such as PlanStream
  std::string code;    // its error, such as UNAVAILABLE
  std::string reason;
};

// Sums over all of it, and:
struct Result : Sample {
  // Every option with its value, versions, the server's and the session's devices: for people who
  // compare two results.
  nlohmann::ordered_json parameters;

  std::string address;  // the server's
  double seconds = 0;   // measured, without the warm-up
  // All sessions were lost after so long. Rates are of the time before.
  std::optional<double> lost_after_s;
  std::vector<Failure> failures;
  // Goodput is the rate of the plans whose latency is no longer. 0: none was asked for.
  int64_t objective_ns = 0;
  std::vector<Interval> timeline;

  double served_s() const { return lost_after_s.value_or(seconds); }
  double PerSecond(double count) const { return served_s() > 0 ? count / served_s() : 0; }
  double rate() const { return PerSecond(static_cast<double>(plans)); }
  double goodput() const {
    return PerSecond(static_cast<double>(latency.CountAtMost(objective_ns)));
  }
  uint64_t num_errors() const {
    uint64_t sum = 0;
    for (const auto& [code, count] : errors) sum += count;
    return sum;
  }
};

}  // namespace gdnplan::load
