// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/pack_step.h"

#include <algorithm>
#include <cstring>

#include "gdnplan/plan/elements.h"
#include "plan/carver.h"

namespace gdnplan::plan {
namespace {

// A copy of `count` elements in the block; null stays null.
template <typename T>
const T* Copy(Carver& carver, const T* from, int32_t count) {
  if (from == nullptr) return nullptr;
  T* to = carver.Take<T>(static_cast<size_t>(count));
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  return to;
}

// The states that the step reads of each row, side by side: [num_rows, state_columns].
void GatherStates(const StepInput& in, const GroupInput& group, int32_t* to) {
  const auto columns = static_cast<size_t>(in.state_columns);
  if (group.width == in.state_columns && group.align_block_size == 0) {
    std::copy_n(group.block_ids, static_cast<size_t>(in.num_rows) * columns, to);
    return;
  }
  for (int32_t row = 0; row < in.num_rows; ++row, to += columns) {
    if (const int32_t* states = RowStates(in, group, row); states != nullptr) {
      std::copy_n(states, columns, to);
    }
  }
}

}  // namespace

size_t PackedStepBytes(const PlanConfig& config) {
  const auto rows = static_cast<size_t>(config.max_num_seqs);
  const auto groups = static_cast<size_t>(config.num_groups());
  Carver carver(nullptr);
  for (int i = 0; i < 10; ++i) carver.Take<int32_t>(rows + 1);
  carver.Take<uint8_t>(rows);
  carver.Take<GroupInput>(groups);
  for (size_t g = 0; g < groups; ++g) {
    carver.Take<int32_t>(rows * static_cast<size_t>(config.state_columns()));
  }
  return carver.used();
}

StepInput PackStep(const StepInput& in, int32_t group, std::byte* block) {
  StepInput out = in;
  Carver carver(block);
  out.query_start_loc = Copy(carver, in.query_start_loc, in.num_rows + 1);
  out.seq_lens = Copy(carver, in.seq_lens, in.num_rows);
  if (in.speculative) {
    out.num_accepted_tokens = Copy(carver, in.num_accepted_tokens, in.num_rows);
    out.spec_sequence_masks = Copy(carver, in.spec_sequence_masks, in.num_rows);
    out.spec_rows = Copy(carver, in.spec_rows, in.num_spec_rows);
    out.non_spec_rows = Copy(carver, in.non_spec_rows, in.num_non_spec_rows);
    out.spec_query_start_loc = Copy(carver, in.spec_query_start_loc, in.num_spec_rows + 1);
    out.non_spec_query_start_loc =
        Copy(carver, in.non_spec_query_start_loc, in.num_non_spec_rows + 1);
  } else {
    out.num_accepted_tokens = nullptr;
    out.non_spec_query_start_loc = out.query_start_loc;
  }
  out.empty_rows = Copy(carver, in.empty_rows, in.num_empty_rows);
  out.chunk_offsets = Copy(carver, in.chunk_offsets, in.num_prefill_rows + 1);
  out.conv_offsets = Copy(carver, in.conv_offsets, in.num_non_spec_rows + 1);

  auto* groups = carver.Take<GroupInput>(static_cast<size_t>(in.num_groups));
  const auto states = static_cast<size_t>(in.num_rows) * static_cast<size_t>(in.state_columns);
  for (int32_t g = 0; g < in.num_groups; ++g) {
    auto* table = carver.Take<int32_t>(states);
    groups[g] = {.block_ids = table, .width = in.state_columns, .align_block_size = 0};
    if (group < 0 || group == g) GatherStates(in, in.groups[g], table);
  }
  out.groups = groups;
  return out;
}

}  // namespace gdnplan::plan
