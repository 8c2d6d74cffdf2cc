// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Runs a simulated scheduler and checks what must hold of every step and at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "client/load/scheduler.h"
#include "gdnplan/plan/step_planner.h"

namespace gdnplan::load {

// Of all arrays, so that equal steps have equal hashes.
uint64_t HashOf(const Step& step, uint64_t hash);

class CheckedReplay {
 public:
  // `requests` as the scheduler was made with.
  CheckedReplay(Scheduler& scheduler, const SchedulerOptions& options,
                std::vector<Request> requests);

  // Runs to the end, or that many steps. Failures are gtest's; it stops at the first step with one.
  void Run(int64_t max_steps = std::numeric_limits<int64_t>::max());

  uint64_t hash() const { return hash_; }
  double last_due_s() const { return last_due_s_; }
  int64_t padded_steps() const { return padded_steps_; }
  int64_t mixed_steps() const { return mixed_steps_; }
  int64_t restarts() const { return restarts_; }
  int32_t longest_row() const { return longest_row_; }

 private:
  struct Progress {
    ScheduledRow last;
    bool began = false;
  };

  void CheckStep(const Step& step);
  void CheckLimits(const json::OwnedBatch& batch) const;
  void CheckPadding(const json::OwnedBatch& batch);
  void CheckOrder() const;
  void CheckBlocks(const json::OwnedBatch& batch);
  void CheckProgress(const Step& step);
  void CheckEnd() const;

  Scheduler& scheduler_;
  const SchedulerOptions options_;
  const std::vector<Request> requests_;
  plan::StepPlanner planner_;
  std::vector<Progress> progress_;
  std::vector<int64_t> block_used_in_;  // step, by block
  int64_t step_ = 0;
  uint64_t hash_ = 0;
  double last_due_s_ = 0;
  int64_t padded_steps_ = 0;
  int64_t mixed_steps_ = 0;
  int64_t restarts_ = 0;
  int32_t longest_row_ = 0;
};

}  // namespace gdnplan::load
