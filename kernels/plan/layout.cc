// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/layout.h"

#include <algorithm>

#include "gdnplan/plan/plan_math.h"

namespace gdnplan::plan {

SlotLayout::SlotLayout(const PlanConfig& config) {
  for (const TensorSpec& spec : TensorTable()) {
    const int64_t bytes = spec.capacity(config) * SizeOf(spec.dtype);
    if (spec.fixed_place) continue;
    const int64_t all_groups =
        spec.per_group ? AlignUp(bytes, kGroupAlignment) * config.num_groups() : bytes;
    packed_capacity += AlignUp(all_groups, kTensorAlignment);
  }
  packed_capacity = std::max(packed_capacity, kMinPackedBytes);
  conv_capacity = Spec(TensorId::kBatchPtr).capacity(config);
  const int64_t conv_bytes = AlignUp(conv_capacity * SizeOf(DType::kInt32), kTensorAlignment);
  batch_ptr_offset = packed_capacity;
  token_chunk_offset_ptr_offset = batch_ptr_offset + conv_bytes;
  slot_bytes = token_chunk_offset_ptr_offset + conv_bytes;
}

}  // namespace gdnplan::plan
