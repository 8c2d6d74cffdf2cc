// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/host_fill.h"

#include <algorithm>
#include <cstring>

#include "gdnplan/plan/elements.h"

namespace gdnplan::plan {
namespace {

// Where a present tensor's elements begin.
template <typename T>
T* At(std::byte* slot, const TensorExtent& extent, int32_t group = 0) {
  return reinterpret_cast<T*>(slot + extent.offset + extent.group_stride * group);
}

// out[i] = element(i) for the tensor's first dimension, if the tensor is present.
template <typename T, typename Element>
void FillRows(const PlanLayout& layout, TensorId id, std::byte* slot, Element element) {
  const TensorExtent& extent = layout[id];
  if (!extent.present) return;
  T* out = At<T>(slot, extent);
  for (int32_t i = 0; i < extent.dims[0]; ++i) out[i] = element(i);
}

// The token positions of each row of one kind, in order.
template <typename Position>
void FillTokenIndx(const PlanLayout& layout, TensorId id, std::byte* slot, const int32_t* starts,
                   int32_t rows, Position position) {
  const TensorExtent& extent = layout[id];
  if (!extent.present) return;
  int32_t* out = At<int32_t>(slot, extent);
  for (int32_t row = 0; row < rows; ++row) {
    const int32_t len = starts[row + 1] - starts[row];
    if (len == 0) continue;
    const int32_t first = position(row);
    for (int32_t t = 0; t < len; ++t) *out++ = first + t;
  }
}

void FillChunkIndices(const StepInput& in, const PlanLayout& layout, std::byte* slot) {
  const TensorExtent& extent = layout[TensorId::kChunkIndices];
  if (!extent.present) return;
  int32_t* out = At<int32_t>(slot, extent);
  for (int32_t p = 0; p < in.num_prefill_rows; ++p) {
    const int32_t chunks = in.chunk_offsets[p + 1] - in.chunk_offsets[p];
    for (int32_t c = 0; c < chunks; ++c) {
      *out++ = p;
      *out++ = c;
    }
  }
  const int32_t used = in.chunk_offsets[in.num_prefill_rows];
  std::fill_n(out, 2 * (extent.dims[0] - used), kPadSlotId);
}

void FillConv(const StepInput& in, const PlanLayout& layout, std::byte* slot, ConvReach& reach) {
  if (!layout[TensorId::kBatchPtr].present) return;
  int32_t* batch_ptr = At<int32_t>(slot, layout[TensorId::kBatchPtr]);
  int32_t* offset_ptr = At<int32_t>(slot, layout[TensorId::kTokenChunkOffsetPtr]);
  int32_t at = 0;
  for (int32_t n = 0; n < in.num_non_spec_rows; ++n) {
    const int32_t programs = ConvPrograms(in, n);
    for (int32_t i = 0; i < programs; ++i) {
      batch_ptr[at + i] = n;
      offset_ptr[at + i] = i;
    }
    at += programs;
  }
  if (at < reach.elements) {
    std::fill(batch_ptr + at, batch_ptr + reach.elements, kPadSlotId);
    std::fill(offset_ptr + at, offset_ptr + reach.elements, kPadSlotId);
  }
  reach.elements = at;
}

void FillShared(const StepInput& in, const PlanLayout& layout, std::byte* slot) {
  FillRows<int32_t>(layout, TensorId::kNonSpecQueryStartLoc, slot,
                    [&](int32_t i) { return in.non_spec_query_start_loc[i]; });
  FillRows<int32_t>(layout, TensorId::kSpecQueryStartLoc, slot,
                    [&](int32_t i) { return SpecQueryStartLoc(in, i); });
  FillRows<int32_t>(layout, TensorId::kNumAcceptedTokens, slot,
                    [&](int32_t i) { return NumAcceptedTokens(in, i); });
  FillRows<uint8_t>(layout, TensorId::kSpecSequenceMasks, slot,
                    [&](int32_t i) { return in.spec_sequence_masks[i]; });
  FillTokenIndx(layout, TensorId::kSpecTokenIndx, slot, in.spec_query_start_loc, in.num_spec_rows,
                [&](int32_t s) { return SpecTokenIndex(in, s, 0); });
  FillTokenIndx(layout, TensorId::kNonSpecTokenIndx, slot, in.non_spec_query_start_loc,
                in.num_non_spec_rows, [&](int32_t n) { return NonSpecTokenIndex(in, n, 0); });
  FillRows<uint8_t>(layout, TensorId::kHasInitialState, slot,
                    [&](int32_t n) { return NonSpecHasInitialState(in, n); });
  FillRows<int32_t>(layout, TensorId::kPrefillQueryStartLoc, slot,
                    [&](int32_t p) { return PrefillQueryStartLoc(in, p); });
  FillRows<uint8_t>(layout, TensorId::kPrefillHasInitialState, slot,
                    [&](int32_t p) { return NonSpecHasInitialState(in, in.prefill_begin + p); });
  FillRows<int32_t>(layout, TensorId::kChunkOffsets, slot,
                    [&](int32_t i) { return in.chunk_offsets[i]; });
  FillRows<int32_t>(layout, TensorId::kNums, slot, [&](int32_t n) { return ConvPrograms(in, n); });
}

// The first state of each non-speculative row.
void FillFirstStates(const StepInput& in, const GroupInput& group, int32_t count, int32_t* out) {
  const auto width = static_cast<size_t>(group.width);
  if (group.align_block_size > 0) {
    for (int32_t n = 0; n < count; ++n) out[n] = NonSpecStateIndex(in, group, n);
    return;
  }
  if (in.non_spec_rows != nullptr) {
    for (int32_t n = 0; n < count; ++n) {
      out[n] = group.block_ids[static_cast<size_t>(in.non_spec_rows[n]) * width];
    }
  } else if (width == 1) {
    std::copy_n(group.block_ids, count, out);
  } else {
    for (int32_t n = 0; n < count; ++n) out[n] = group.block_ids[static_cast<size_t>(n) * width];
  }
  for (int32_t i = 0; i < in.num_empty_rows; ++i) out[in.empty_rows[i]] = kNullBlockId;
}

// A speculative row's states stand together in the table, and so do those of rows that follow each
// other in a table that holds nothing else.
void FillSpecStates(const StepInput& in, const GroupInput& group, int32_t rows, int32_t* out) {
  const auto columns = static_cast<size_t>(in.state_columns);
  const auto spec_rows = static_cast<size_t>(in.num_spec_rows);
  const int32_t first = in.spec_rows[0];
  const bool together = in.spec_rows[spec_rows - 1] - first + 1 == in.num_spec_rows;
  if (together && group.align_block_size == 0 && group.width == in.state_columns) {
    std::copy_n(group.block_ids + static_cast<size_t>(first) * columns, spec_rows * columns, out);
  } else {
    for (size_t s = 0; s < spec_rows; ++s) {
      std::copy_n(RowStates(in, group, in.spec_rows[s]), columns, out + s * columns);
    }
  }
  std::fill(out + spec_rows * columns, out + static_cast<size_t>(rows) * columns, kNullBlockId);
}

}  // namespace

void InitializeSlot(const SlotLayout& layout, std::byte* slot) {
  const auto elements = static_cast<size_t>(layout.conv_capacity);
  std::fill_n(reinterpret_cast<int32_t*>(slot + layout.batch_ptr_offset), elements, kPadSlotId);
  std::fill_n(reinterpret_cast<int32_t*>(slot + layout.token_chunk_offset_ptr_offset), elements,
              kPadSlotId);
}

void FillGroupStates(const StepInput& in, const PlanLayout& layout, int32_t group,
                     std::byte* slot) {
  const GroupInput& input = in.groups[group];
  const TensorExtent& first = layout[TensorId::kNonSpecStateIndices];
  const TensorExtent& spec = layout[TensorId::kSpecStateIndices];
  const TensorExtent& prefill = layout[TensorId::kPrefillStateIndices];
  if (first.present) FillFirstStates(in, input, first.dims[0], At<int32_t>(slot, first, group));
  if (spec.present) FillSpecStates(in, input, spec.dims[0], At<int32_t>(slot, spec, group));
  if (prefill.present) {
    // Where there are prefills there are first states: theirs are the last of them.
    std::copy_n(At<int32_t>(slot, first, group) + in.prefill_begin, prefill.dims[0],
                At<int32_t>(slot, prefill, group));
  }
}

void FillSlot(const StepInput& in, const PlanLayout& layout, std::byte* slot, ConvReach& reach) {
  FillShared(in, layout, slot);
  FillChunkIndices(in, layout, slot);
  FillConv(in, layout, slot, reach);
  for (int32_t group = 0; group < in.num_groups; ++group) {
    FillGroupStates(in, layout, group, slot);
  }
}

}  // namespace gdnplan::plan
