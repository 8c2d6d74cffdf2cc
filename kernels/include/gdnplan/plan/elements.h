// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The value of every element of every tensor as a function of the step. Host fill and kernel fill
// both call these, so what one computes the other does too. Row arguments are in the order that the
// name says.
#pragma once

#include <cstdint>

#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/host_device.h"
#include "gdnplan/plan/plan_math.h"
#include "gdnplan/plan/step_input.h"

namespace gdnplan::plan {

// The batch row of a non-speculative row.
GDNPLAN_HD inline int32_t NonSpecRow(const StepInput& in, int32_t n) noexcept {
  return in.non_spec_rows == nullptr ? n : in.non_spec_rows[n];
}

GDNPLAN_HD inline int32_t RowLength(const StepInput& in, int32_t row) noexcept {
  return in.query_start_loc[row + 1] - in.query_start_loc[row];
}

// The row's states in the group's table; null for a row of length 0, whatever its table row holds.
GDNPLAN_HD inline const int32_t* RowStates(const StepInput& in, const GroupInput& group,
                                           int32_t row) noexcept {
  if (RowLength(in, row) == 0) return nullptr;
  return group.block_ids + static_cast<int64_t>(row) * group.width +
         FirstStateColumn(in.seq_lens[row], group.align_block_size);
}

GDNPLAN_HD inline int32_t NonSpecStateIndex(const StepInput& in, const GroupInput& group,
                                            int32_t n) noexcept {
  const int32_t* states = RowStates(in, group, NonSpecRow(in, n));
  return states == nullptr ? kNullBlockId : states[0];
}

GDNPLAN_HD inline int32_t PrefillStateIndex(const StepInput& in, const GroupInput& group,
                                            int32_t p) noexcept {
  return NonSpecStateIndex(in, group, in.prefill_begin + p);
}

// s counts staged rows: those past the speculative ones are padding.
GDNPLAN_HD inline int32_t SpecStateIndex(const StepInput& in, const GroupInput& group, int32_t s,
                                         int32_t column) noexcept {
  if (s >= in.num_spec_rows) return kNullBlockId;
  return RowStates(in, group, in.spec_rows[s])[column];
}

GDNPLAN_HD inline int32_t SpecQueryStartLoc(const StepInput& in, int32_t s) noexcept {
  return in.spec_query_start_loc[s < in.num_spec_rows ? s : in.num_spec_rows];
}

GDNPLAN_HD inline int32_t NumAcceptedTokens(const StepInput& in, int32_t s) noexcept {
  if (s >= in.num_spec_rows) return kPaddedAcceptedTokens;
  const int32_t row = in.spec_rows[s];
  return in.num_accepted_tokens == nullptr ? RowLength(in, row) : in.num_accepted_tokens[row];
}

// Position in the batch of token `offset` of a speculative or another row.
GDNPLAN_HD inline int32_t SpecTokenIndex(const StepInput& in, int32_t s, int32_t offset) noexcept {
  return in.query_start_loc[in.spec_rows[s]] + offset;
}
GDNPLAN_HD inline int32_t NonSpecTokenIndex(const StepInput& in, int32_t n,
                                            int32_t offset) noexcept {
  return in.query_start_loc[NonSpecRow(in, n)] + offset;
}

GDNPLAN_HD inline uint8_t NonSpecHasInitialState(const StepInput& in, int32_t n) noexcept {
  const int32_t row = NonSpecRow(in, n);
  return HasInitialState(in.seq_lens[row], RowLength(in, row)) ? 1 : 0;
}

GDNPLAN_HD inline int32_t PrefillQueryStartLoc(const StepInput& in, int32_t p) noexcept {
  return in.non_spec_query_start_loc[in.prefill_begin + p] - in.prefill_first_token;
}

// Conv programs of a non-speculative row.
GDNPLAN_HD inline int32_t ConvPrograms(const StepInput& in, int32_t n) noexcept {
  return in.conv_offsets[n + 1] - in.conv_offsets[n];
}

}  // namespace gdnplan::plan
