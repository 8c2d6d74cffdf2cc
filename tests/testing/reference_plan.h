// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The plan of a batch, written down a second time in the plainest way, to test the planner against.
// It shares no code with it: not the arithmetic, not the order of the work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "client/json/golden.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/counts.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::test {

// An element of chunk_indices whose value is not specified.
inline constexpr int32_t kUnspecified = -9;

struct ReferencePlan {
  plan::PlanCounts counts;
  // Shared tensors are under group 0.
  std::map<std::pair<plan::TensorId, int32_t>, json::TensorData> tensors;

  std::optional<json::TensorData> Find(plan::TensorId id, int32_t group) const;
};

// `config` and `batch` must be ones that are accepted.
ReferencePlan MakeReferencePlan(const plan::PlanConfig& config, const plan::BatchView& batch);

}  // namespace gdnplan::test
