// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One small batch with a row of each kind, to be changed by the test.
#pragma once

#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::test {

// 4 rows, 32 tokens, K = 2, full graphs; group 0 without gather, group 1 aligned to blocks of 16.
inline plan::PlanConfig SampleConfig() {
  plan::PlanConfig config;
  config.max_num_seqs = 4;
  config.max_num_batched_tokens = 32;
  config.num_speculative_tokens = 2;
  config.use_full_cuda_graph = true;
  config.groups = {{"plain", plan::MambaCacheMode::kNone, 0},
                   {"aligned", plan::MambaCacheMode::kAlign, 16}};
  return config;
}

// Speculative row of 3 tokens, decode, prefill of 5 tokens, padded row with what was there before.
inline json::OwnedBatch SampleBatch() {
  json::OwnedBatch batch;
  batch.query_start_loc = {0, 3, 4, 9, 9};
  batch.seq_lens = {20, 40, 5, 0};
  batch.is_prefilling = {0, 0, 1, 0};
  batch.num_decode_draft_tokens = {2, -1, -1, 2};
  batch.num_accepted_tokens = {3, 0, -7, 99};
  batch.num_actual_tokens = 9;
  // The second row's gather ends at the last column: 40 tokens are in the third block of 16.
  batch.block_tables = {
      {{10, 11, 12, 20, 21, 22, 30, 31, 32, -1, -1, -1}, 3},
      {{9, 60, 61, 62, 9, 9, 9, 70, 71, 72, 80, 81, 82, 9, 9, -1, -1, -1, -1, -1}, 5}};
  return batch;
}

// Decodes alone: it takes the plain path and is staged.
inline json::OwnedBatch SampleDecodes() {
  json::OwnedBatch batch;
  batch.query_start_loc = {0, 1, 2, 2};
  batch.seq_lens = {20, 40, 0};
  batch.block_tables = {{{10, 11, 12, 20, 21, 22, 30, 31, 32}, 3},
                        {{9, 60, 61, 62, 9, 9, 9, 70, 71, 72, 9, 9, 9, 9, 9}, 5}};
  return batch;
}

}  // namespace gdnplan::test
