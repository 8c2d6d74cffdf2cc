// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load measured.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/load/histogram.h"

namespace gdnplan::load {

// One second of it.
struct Interval {
  double start_s = 0;  // from the end of the warm-up
  double seconds = 0;
  Histogram latency;
  uint64_t errors = 0;
};

struct Result {
  // Every option with its value, versions, the server's and the session's devices: for people who
  // compare two results.
  nlohmann::ordered_json parameters;

  double seconds = 0;    // measured, without the warm-up
  uint64_t plans = 0;    // answered with OK
  uint64_t skipped = 0;  // open loop: starts that were never made, for too many were outstanding
  uint64_t delayed = 0;  // open loop: starts made later than intended by more than a millisecond
  // Nanoseconds. Open loop: from the intended start; closed loop: the same as `service`.
  Histogram latency;
  Histogram service;                              // from the actual start to the answer
  Histogram server;                               // the server's own part (Plan.server_time_ns)
  std::map<std::string, uint64_t> plans_by_kind;  // "decode", "spec decode", "prefill", "mixed"
  std::map<std::string, uint64_t> errors;  // by status code's name, such as RESOURCE_EXHAUSTED
  uint64_t request_bytes = 0;              // of the batches' arrays
  uint64_t plan_bytes = 0;                 // of the tensors, of all groups, on one device
  uint64_t verified = 0;                   // plans compared with the host's core
  uint64_t mismatches = 0;                 // of these
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
