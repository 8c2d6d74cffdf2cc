// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The steps of an engine that serves a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

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

// Ends when its requests have. Shards have random numbers of their own.
class TraceSource : public StepSource {
 public:
  // InvalidArgument: options out of range, or a request that could never run. The trace is not
  // kept.
  static absl::StatusOr<std::unique_ptr<TraceSource>> Create(std::span<const Request> trace,
                                                             const SchedulerOptions& options,
                                                             Shard shard = {});

  const plan::PlanConfig& config() const override { return scheduler_->config(); }
  bool Next(Step& step) override { return scheduler_->Next(step); }

  const Scheduler& scheduler() const { return *scheduler_; }

 private:
  explicit TraceSource(std::unique_ptr<Scheduler> scheduler);

  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace gdnplan::load
