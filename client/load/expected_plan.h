// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a plan must hold, by the core of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/plan_view.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/step_planner.h"

namespace gdnplan::load {

// One session's plans, one at a time. Not thread safe.
class ExpectedPlan {
 public:
  // `config` must be valid.
  explicit ExpectedPlan(const plan::PlanConfig& config);

  // Compares counts and every tensor of every group, read through the plan's mapping, whose bytes
  // must be there and stay. Nothing: it is right. An error: it could not be read, or the core
  // refuses the batch that the server planned.
  absl::StatusOr<std::vector<std::string>> Compare(const plan::BatchView& batch,
                                                   const client::PlanView& plan);

  // Of the tensors, of all groups.
  static uint64_t Bytes(const client::PlanView& plan, int32_t num_groups);

 private:
  struct alignas(plan::kTensorAlignment) Block {
    std::byte bytes[plan::kTensorAlignment];
  };
  const std::byte* slot() const { return memory_.front().bytes; }

  // Of one group's tensor; empty: equal.
  absl::StatusOr<std::string> CompareTensor(plan::TensorId id, int32_t group,
                                            const client::PlanView& plan) const;

  plan::StepPlanner planner_;
  std::vector<Block> memory_;
  plan::ConvReach reach_;
};

}  // namespace gdnplan::load
