// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where one session's requests leave what they measured.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "client/load/histogram.h"

namespace gdnplan::load {

// What a time's requests measured; Result is made of many.
struct Sample {
  Histogram latency;
  Histogram service;
  Histogram server;
  std::map<std::string, uint64_t> plans_by_kind;
  std::map<std::string, uint64_t> errors;
  uint64_t plans = 0;
  uint64_t delayed = 0;
  uint64_t request_bytes = 0;
  uint64_t plan_bytes = 0;
  uint64_t verified = 0;
  uint64_t mismatches = 0;

  void Merge(const Sample& other) {
    latency.Merge(other.latency);
    service.Merge(other.service);
    server.Merge(other.server);
    for (const auto& [kind, count] : other.plans_by_kind) plans_by_kind[kind] += count;
    for (const auto& [code, count] : other.errors) errors[code] += count;
    plans += other.plans;
    delayed += other.delayed;
    request_bytes += other.request_bytes;
    plan_bytes += other.plan_bytes;
    verified += other.verified;
    mismatches += other.mismatches;
  }
};

// Thread safe.
class Recorder {
 public:
  // fill(sample) adds to what was recorded since the last Take.
  template <typename Fill>
  void Record(Fill fill) {
    const std::lock_guard lock(mutex_);
    fill(sample_);
  }
  void AddError(const absl::Status& status) {
    Record([&](Sample& sample) { ++sample.errors[absl::StatusCodeToString(status.code())]; });
  }
  Sample Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sample_, {});
  }

 private:
  std::mutex mutex_;
  Sample sample_;  // guarded by mutex_
};

}  // namespace gdnplan::load
