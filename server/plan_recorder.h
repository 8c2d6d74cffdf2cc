// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a server's sessions did, for those who watch it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/call_record.h"
#include "server/latency_histogram.h"
#include "server/mutex.h"

namespace gdnplan::server {

class PlanTrace;

enum class Stage : uint8_t {
  kParse,  // from message to batch
  kWait,   // for the slot's consumer, and for calls before it
  kPlan,   // validated, laid out, and written or enqueued
  kReady,  // until the devices were done, where the caller waits for that
  kTotal,
};
inline constexpr size_t kNumStages = 5;

// Thread safe. What succeeds is recorded without a lock (but for a trace, if there is one).
class PlanRecorder {
 public:
  // `trace` gets every call; null: none does. Before the first Record or after the last.
  void SetTrace(std::shared_ptr<PlanTrace> trace) { trace_ = std::move(trace); }

  void Record(const CallRecord& call);
  // A request that was refused, wherever it was; `session`: its number, 0 where there is none.
  void Refused(const absl::Status& status, uint64_t session = 0);
  // Told of every refusal, on any thread, perhaps under a session's lock: must not block. Before
  // the first.
  using OnRefusal = std::function<void(const absl::Status& status, uint64_t session)>;
  void SetOnRefusal(OnRefusal on_refusal) { on_refusal_ = std::move(on_refusal); }
  void DeviceFailed() { device_failures_.fetch_add(1, std::memory_order_relaxed); }
  // A follower did not take a plan in time.
  void FollowerMissed() { follower_misses_.fetch_add(1, std::memory_order_relaxed); }

  struct Refusal {
    absl::StatusCode code;
    std::string field;  // without index; empty: no field's fault

    friend auto operator<=>(const Refusal&, const Refusal&) = default;
  };
  using Refusals = std::map<Refusal, uint64_t>;
  Refusals refusals() const;
  uint64_t calls(CallKind kind) const {
    return calls_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }
  LatencyHistogram::Counts stage(Stage stage) const {
    return stages_[static_cast<size_t>(stage)].counts();
  }
  uint64_t device_failures() const { return device_failures_.load(std::memory_order_relaxed); }
  uint64_t follower_misses() const { return follower_misses_.load(std::memory_order_relaxed); }

 private:
  // Of fields there is a number; more than this would be somebody's invention.
  static constexpr size_t kMaxRefusals = 256;

  void RecordStage(Stage stage, CallTimes::Time from, CallTimes::Time to);

  std::shared_ptr<PlanTrace> trace_;
  std::array<std::atomic<uint64_t>, 2> calls_ = {};  // that succeeded
  std::array<LatencyHistogram, kNumStages> stages_;
  std::atomic<uint64_t> device_failures_ = 0;
  std::atomic<uint64_t> follower_misses_ = 0;
  OnRefusal on_refusal_;
  mutable Mutex mutex_;
  Refusals refusals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gdnplan::server
