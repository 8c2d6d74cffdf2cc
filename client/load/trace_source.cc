// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/trace_source.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/load/random.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {

absl::StatusOr<std::unique_ptr<TraceSource>> TraceSource::Create(std::span<const Request> trace,
                                                                 const SchedulerOptions& options,
                                                                 Shard shard, bool repeat) {
  if (shard.count < 1 || shard.index < 0 || shard.index >= shard.count) {
    return plan::InvalidField("shard", absl::StrCat("must be one of at least one, counted from 0 "
                                                    "(got ",
                                                    shard.index, " of ", shard.count, ")"));
  }
  // Here, for errors to name a request by its place in the whole trace.
  GDNPLAN_RETURN_IF_ERROR(ValidateOptions(options));
  GDNPLAN_RETURN_IF_ERROR(ValidateRequests(options, trace));
  std::vector<Request> requests;
  for (size_t i = static_cast<size_t>(shard.index); i < trace.size();
       i += static_cast<size_t>(shard.count)) {
    requests.push_back(trace[i]);
  }
  SchedulerOptions own = options;
  own.seed = MixBits(options.seed, static_cast<uint64_t>(shard.index));
  GDNPLAN_ASSIGN_OR_RETURN(auto scheduler, Scheduler::Create(requests, own));
  return std::unique_ptr<TraceSource>(
      new TraceSource(std::move(requests), own, repeat, std::move(scheduler)));
}

TraceSource::TraceSource(std::vector<Request> requests, const SchedulerOptions& options,
                         bool repeat, std::unique_ptr<Scheduler> scheduler)
    : requests_(std::move(requests)),
      options_(options),
      repeat_(repeat && !requests_.empty()),
      scheduler_(std::move(scheduler)) {}

bool TraceSource::Next(Step& step) {
  if (!scheduler_->Next(step)) {
    if (!repeat_) return false;
    options_.seed = MixBits(options_.seed, 1);
    // They were right for the first round.
    scheduler_ = Scheduler::Create(requests_, options_).value();
    round_began_s_ = last_due_s_;
    if (!scheduler_->Next(step)) return false;
  }
  step.due_s += round_began_s_;
  last_due_s_ = step.due_s;
  return true;
}

}  // namespace gdnplan::load
