// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The steps of an engine that serves a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/scheduler.h"
#include "client/load/scheduler_options.h"
#include "client/load/step_source.h"
#include "client/load/trace.h"

namespace gdnplan::load {

// One of several engines that share a trace (data-parallel replicas): every count-th request, from
// the index-th on.
struct Shard {
  int32_t index = 0;
  int32_t count = 1;
};

// Shards, and each round of a trace that repeats, have random numbers of their own.
class TraceSource : public StepSource {
 public:
  // `repeat`: once all requests have ended they come again, to an engine whose caches are empty;
  // else the workload is over then. InvalidArgument: options out of range, or a request that could
  // never run. The trace is not kept.
  static absl::StatusOr<std::unique_ptr<TraceSource>> Create(std::span<const Request> trace,
                                                             const SchedulerOptions& options,
                                                             Shard shard = {}, bool repeat = false);

  const plan::PlanConfig& config() const override { return scheduler_->config(); }
  bool Next(Step& step) override;

  // Of this round.
  const Scheduler& scheduler() const { return *scheduler_; }

 private:
  TraceSource(std::vector<Request> requests, const SchedulerOptions& options, bool repeat,
              std::unique_ptr<Scheduler> scheduler);

  const std::vector<Request> requests_;
  SchedulerOptions options_;  // the seed is this round's
  const bool repeat_;
  double round_began_s_ = 0;
  double last_due_s_ = 0;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace gdnplan::load
