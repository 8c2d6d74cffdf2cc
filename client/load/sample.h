// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What requests measured, mergeable: of a moment, of a session, of a whole load.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/load/histogram.h"

namespace gdnplan::load {

struct Sample {
  uint64_t plans = 0;    // answered with OK, and compared where that was asked for
  uint64_t delayed = 0;  // open loop: starts made later than intended by more than a millisecond
  // Open loop: starts that were due and never made, for the requests before were still under way,
  // or the server was gone.
  uint64_t skipped = 0;
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

  void Merge(const Sample& other) {
    plans += other.plans;
    delayed += other.delayed;
    skipped += other.skipped;
    latency.Merge(other.latency);
    service.Merge(other.service);
    server.Merge(other.server);
    for (const auto& [kind, count] : other.plans_by_kind) plans_by_kind[kind] += count;
    for (const auto& [code, count] : other.errors) errors[code] += count;
    request_bytes += other.request_bytes;
    plan_bytes += other.plan_bytes;
    verified += other.verified;
    mismatches += other.mismatches;
  }
};

}  // namespace gdnplan::load
