// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Which tensors a step has, their shapes and places.
#include <algorithm>

#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/step_planner.h"

namespace gdnplan::plan {
namespace {

// Places present tensors one behind the other, in the table's order.
class Packer {
 public:
  Packer(PlanLayout& layout, int32_t num_groups) : layout_(layout), num_groups_(num_groups) {}

  void Add(TensorId id, int32_t dim0, int32_t dim1 = 0) {
    const TensorSpec& spec = Spec(id);
    TensorExtent& extent = layout_[id];
    extent.present = true;
    extent.dims = {dim0, dim1};
    extent.offset = layout_.packed_bytes;
    int64_t bytes = NumElements(spec, extent) * SizeOf(spec.dtype);
    if (spec.per_group) {
      extent.group_stride = AlignUp(bytes, kGroupAlignment);
      bytes = extent.group_stride * num_groups_;
    }
    layout_.packed_bytes += AlignUp(bytes, kTensorAlignment);
  }

  void AddFixed(TensorId id, int64_t offset, int32_t elements) {
    layout_[id] = {.present = true, .offset = offset, .group_stride = 0, .dims = {elements, 0}};
  }

 private:
  PlanLayout& layout_;
  int32_t num_groups_;
};

}  // namespace

void StepPlanner::SetLayout() {
  const StepInput& in = input_;
  layout_ = PlanLayout{};
  Packer packer(layout_, in.num_groups);
  const bool prefills = in.num_prefill_rows > 0;
  // Beside speculative rows the other rows' tensors exist only when one of them has work.
  if (!in.speculative || prefills) {
    packer.Add(TensorId::kNonSpecQueryStartLoc, in.num_non_spec_rows + 1);
    packer.Add(TensorId::kNonSpecStateIndices, in.num_non_spec_rows);
  }
  if (in.speculative) {
    packer.Add(TensorId::kSpecQueryStartLoc, in.num_staged_rows + 1);
    packer.Add(TensorId::kNumAcceptedTokens, in.num_staged_rows);
    packer.Add(TensorId::kSpecSequenceMasks, in.num_rows);
    packer.Add(TensorId::kSpecStateIndices, in.num_staged_rows, in.state_columns);
    packer.Add(TensorId::kSpecTokenIndx, in.counts.num_spec_decode_tokens);
    packer.Add(TensorId::kNonSpecTokenIndx, in.non_spec_query_start_loc[in.num_non_spec_rows]);
  }
  if (!prefills) return;
  packer.Add(TensorId::kHasInitialState, in.num_non_spec_rows);
  packer.Add(TensorId::kPrefillQueryStartLoc, in.num_prefill_rows + 1);
  packer.Add(TensorId::kPrefillStateIndices, in.num_prefill_rows);
  packer.Add(TensorId::kPrefillHasInitialState, in.num_prefill_rows);
  packer.Add(TensorId::kChunkOffsets, in.num_prefill_rows + 1);
  packer.Add(TensorId::kChunkIndices, in.num_chunk_rows, 2);
  packer.Add(TensorId::kNums, in.num_non_spec_rows);
  const int32_t conv = std::max(kMinConvPrograms, in.counts.num_conv_programs) * 2;
  packer.AddFixed(TensorId::kBatchPtr, slot_layout_.batch_ptr_offset, conv);
  packer.AddFixed(TensorId::kTokenChunkOffsetPtr, slot_layout_.token_chunk_offset_ptr_offset, conv);
}

}  // namespace gdnplan::plan
