// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the fills read: one step, classified. Trivially copyable, so that a kernel takes it by
// value.
#pragma once

#include <cstdint>

#include "gdnplan/plan/counts.h"
#include "gdnplan/plan/host_device.h"
#include "gdnplan/plan/plan_math.h"

namespace gdnplan::plan {

struct GroupInput {
  const int32_t* block_ids = nullptr;  // [num_rows, width]
  int32_t width = 0;
  int32_t align_block_size = 0;  // 0: the states begin at column 0
};

// Rows are of three orders: the batch's, the speculative rows' and the other ("non-spec") rows'. In
// the plain path there are no speculative rows and the other rows are the batch's.
struct StepInput {
  PlanCounts counts;
  int32_t num_rows = 0;
  int32_t num_groups = 0;
  int32_t state_columns = 1;  // 1 + K
  int32_t chunk_size = 64;
  bool speculative = false;   // the path
  int32_t num_spec_rows = 0;  // equals counts.num_spec_decodes
  int32_t num_staged_rows =
      0;  // rows of the speculative per-row tensors: num_spec_rows, or num_rows when staged
  int32_t num_non_spec_rows = 0;
  int32_t prefill_begin = 0;        // the first non-spec row that is in the prefill tensors
  int32_t prefill_first_token = 0;  // non_spec_query_start_loc at that row
  int32_t num_prefill_rows =
      0;  // rows of the prefill tensors, padded rows counted; 0 without prefills
  int32_t num_chunk_rows = 0;  // rows of chunk_indices; those past the last chunk are padding

  // [num_rows (+ 1)], in the batch's order
  const int32_t* query_start_loc = nullptr;
  const int32_t* seq_lens = nullptr;
  const int32_t* num_accepted_tokens =
      nullptr;  // null: every row accepted all its tokens (capture)
  const uint8_t* spec_sequence_masks = nullptr;  // speculative path only
  // [num_spec_rows (+ 1)] and [num_non_spec_rows (+ 1)]
  const int32_t* spec_rows = nullptr;      // batch row of each speculative row
  const int32_t* non_spec_rows = nullptr;  // of each other row; null: the same
  const int32_t* spec_query_start_loc = nullptr;
  const int32_t* non_spec_query_start_loc = nullptr;
  // [num_prefill_rows + 1] and [num_non_spec_rows + 1], with prefills only: running sums of chunks,
  // conv programs
  const int32_t* chunk_offsets = nullptr;
  const int32_t* conv_offsets = nullptr;
  // [num_empty_rows] the non-spec rows of query length 0, rising. Of the host fill: it writes all
  // states first and then overwrites these rows' with kNullBlockId.
  int32_t num_empty_rows = 0;
  const int32_t* empty_rows = nullptr;
  const GroupInput* groups = nullptr;  // [num_groups]
};

}  // namespace gdnplan::plan
