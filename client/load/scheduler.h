// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A simulated engine's scheduler: continuous batching by a virtual clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/batch_writer.h"
#include "client/load/random.h"
#include "client/load/request_blocks.h"
#include "client/load/scheduler_options.h"
#include "client/load/step_source.h"
#include "client/load/trace.h"

namespace gdnplan::load {

// Of the steps that are over. Once all requests are: prefill + cached + decode - lost tokens are
// their prompt and output tokens, without the last output token of each, which nothing computes.
struct SchedulerStats {
  int64_t steps = 0;
  int64_t finished_requests = 0;
  int64_t preemptions = 0;
  int64_t prefill_tokens = 0;  // computed of prompts, and of outputs that a preemption lost
  int64_t cached_tokens = 0;   // not computed, for the prefix cache had them
  int64_t decode_tokens = 0;   // computed by decodes and kept; rejected drafts are not counted
  int64_t lost_tokens = 0;     // computed or cached before a preemption
  int64_t output_tokens = 0;
};

// Each step has all requests that decode, then prompts in work, then new requests, first come first
// served, so far as limits and blocks last. When a request that runs lacks a block, the newest that
// runs and is not in the step yet gives its own back and begins anew later (preemption by
// recomputation). Rows come in the order that engines sort them into: decodes, the short ends of
// prompts, longer continued prompts, fresh prompts. Once warm it allocates nothing. Not thread
// safe.
class Scheduler {
 public:
  // InvalidArgument: options out of range, or a request that could never run.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Create(std::vector<Request> requests,
                                                           const SchedulerOptions& options);

  const plan::PlanConfig& config() const { return config_; }

  // The next step, once the one before is over. False: all requests have ended.
  bool Next(Step& step);

  // Of the last step, without padding.
  std::span<const ScheduledRow> rows() const { return rows_; }
  const SchedulerStats& stats() const { return stats_; }
  const BlockPool& pool() const { return blocks_.pool(); }

 private:
  // A request that runs.
  struct Running {
    int32_t request = 0;
    int32_t computed = 0;
    int32_t prompt_end = 0;  // tokens to compute before it decodes; after a preemption, outputs too
    int32_t outputs = 0;
    int32_t num_accepted_tokens = 1;
    int64_t last_step = 0;
    SharedPrefix prefix;
    RequestBlocks blocks;

    bool prefilling() const { return computed < prompt_end; }
  };
  struct Preempted {
    int32_t request = 0;
    int32_t outputs = 0;
  };

  Scheduler(std::vector<Request> requests, const SchedulerOptions& options);

  const Request& request_of(const Running& running) const {
    return requests_[static_cast<size_t>(running.request)];
  }
  double ArrivalOf(size_t request) const { return requests_[request].arrival_s / options_.speed; }
  SharedPrefix PrefixOf(int32_t request) const;

  // What the last step computed is there.
  void EndStep();
  void EndDecode(Running& running);
  void EndPrefill(Running& running, int32_t len);
  void RemoveFinished();

  // Moves the clock to when there is something to do. False: never.
  bool AwaitWork();
  void ScheduleDecodes();
  void SchedulePrompts();
  void ScheduleNew();
  // Takes one request in. False: blocks do not suffice.
  bool Start(Preempted what);
  // Prompt tokens of its next step, at least 1; the budget must not be used up.
  int32_t PromptTokens(const Running& running) const;
  // False: the request at that place itself had to give way.
  bool MakeRoom(size_t place, int32_t seq_len);
  void Preempt(size_t place);
  void AddRow(int32_t slot, int32_t len, std::vector<ScheduledRow>& rows);
  void OrderRows();

  const SchedulerOptions options_;
  const plan::PlanConfig config_;
  const std::vector<Request> requests_;  // by arrival
  const BatchWriter writer_;
  BlockManager blocks_;
  Random random_;
  std::vector<double> acceptance_;  // of the first draft, of the first two, ...
  SchedulerStats stats_;
  double now_s_ = 0;

  size_t next_arrival_ = 0;
  std::vector<Preempted> preempted_;  // the last one resumes first
  std::vector<Running> slots_;
  std::vector<int32_t> free_slots_;
  std::vector<int32_t> running_;  // slots, the oldest first

  // Within a step.
  int32_t budget_ = 0;
  bool preempted_now_ = false;
  std::vector<ScheduledRow> rows_;
  std::vector<ScheduledRow> prompt_rows_;
};

}  // namespace gdnplan::load
