// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A planner with a slot in host memory, as a session has them, and what its tensors hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "client/json/golden.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_planner.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::test {

// The bytes of one (group's) tensor, which must be present.
std::span<const std::byte> TensorBytes(const plan::PlanLayout& layout,
                                       std::span<const std::byte> slot, plan::TensorId id,
                                       int32_t group);

// The tensor's shape and elements; nullopt: the plan does not have it.
std::optional<json::TensorData> ReadTensor(const plan::PlanLayout& layout,
                                           std::span<const std::byte> slot, plan::TensorId id,
                                           int32_t group);

class PlannedSlot {
 public:
  explicit PlannedSlot(const plan::PlanConfig& config);

  // Plans and fills. The packed part of the slot is overwritten with `poison` before the fill, so
  // that what the fill leaves out shows.
  absl::Status Plan(const plan::BatchView& batch, std::byte poison = std::byte{0xA5});
  // Fills once more from the planned step.
  void Fill(std::byte poison = std::byte{0xA5});
  absl::Status Regather(int32_t group, const plan::BlockTableView& table);

  const plan::StepPlanner& planner() const { return planner_; }
  const plan::PlanLayout& layout() const { return planner_.layout(); }
  const plan::PlanCounts& counts() const { return planner_.input().counts; }
  std::span<const std::byte> slot() const;
  std::optional<json::TensorData> Read(plan::TensorId id, int32_t group = 0) const;
  // Refers to this object.
  json::TensorReader reader() const;

 private:
  struct alignas(plan::kTensorAlignment) Block {
    std::byte bytes[plan::kTensorAlignment];
  };

  std::byte* data() { return memory_.front().bytes; }

  plan::StepPlanner planner_;
  std::vector<Block> memory_;
  plan::ConvReach reach_;
};

}  // namespace gdnplan::test
