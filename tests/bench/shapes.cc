// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/shapes.h"

#include <algorithm>
#include <random>

namespace gdnplan::bench {

std::vector<Shape> StandardShapes() {
  return {
      {.name = "256 decodes", .decodes = 256},
      {.name = "256 spec, K=3", .spec_rows = 256, .num_speculative_tokens = 3},
      {.name = "256 spec, K=3, 4 groups",
       .spec_rows = 256,
       .num_speculative_tokens = 3,
       .groups = 4},
      {.name = "200 decodes + 8x1k", .decodes = 200, .prefills = 8, .prefill_tokens = 1024},
      {.name = "128 spec + 8x1k, 4 groups",
       .spec_rows = 128,
       .num_speculative_tokens = 3,
       .prefills = 8,
       .prefill_tokens = 1024,
       .groups = 4},
      {.name = "64x2k", .prefills = 64, .prefill_tokens = 2048},
      {.name = "1024 decodes, 36 groups", .decodes = 1024, .groups = 36},
  };
}

plan::PlanConfig ShapedBatch::Config(const Shape& shape) {
  plan::PlanConfig config;
  config.max_num_seqs = 1024;
  config.max_num_batched_tokens = std::max(16'384, shape.prefills * shape.prefill_tokens);
  config.num_speculative_tokens = shape.num_speculative_tokens;
  config.use_full_cuda_graph = true;
  config.groups.assign(static_cast<size_t>(shape.groups), plan::GroupConfig{});
  return config;
}

ShapedBatch::ShapedBatch(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  const auto add_row = [&](int32_t tokens, int32_t computed, bool prefilling, int32_t drafts) {
    query_start_loc_.push_back(query_start_loc_.back() + tokens);
    seq_lens_.push_back(computed + tokens);
    is_prefilling_.push_back(prefilling ? 1 : 0);
    if (shape.num_speculative_tokens == 0) return;
    num_decode_draft_tokens_.push_back(drafts);
    num_accepted_tokens_.push_back(1 + static_cast<int32_t>(random() % 2));
  };
  const auto computed = [&] { return 500 + static_cast<int32_t>(random() % 4000); };
  query_start_loc_.push_back(0);
  for (int32_t i = 0; i < shape.spec_rows; ++i) {
    add_row(shape.num_speculative_tokens + 1, computed(), false, shape.num_speculative_tokens);
  }
  for (int32_t i = 0; i < shape.decodes; ++i) add_row(1, computed(), false, -1);
  for (int32_t i = 0; i < shape.prefills; ++i) add_row(shape.prefill_tokens, 0, true, -1);

  const int32_t width = 1 + shape.num_speculative_tokens;
  for (int32_t g = 0; g < shape.groups; ++g) {
    std::vector<int32_t>& ids = block_ids_.emplace_back();
    for (size_t i = 0; i < seq_lens_.size() * static_cast<size_t>(width); ++i) {
      ids.push_back(1 + static_cast<int32_t>(random() % 100'000));
    }
  }
  for (const std::vector<int32_t>& ids : block_ids_) tables_.push_back({ids, width});
}

plan::BatchView ShapedBatch::view() const {
  plan::BatchView batch;
  batch.query_start_loc = query_start_loc_;
  batch.seq_lens = seq_lens_;
  batch.is_prefilling = is_prefilling_;
  batch.num_decode_draft_tokens = num_decode_draft_tokens_;
  batch.num_accepted_tokens = num_accepted_tokens_;
  batch.block_tables = tables_;
  return batch;
}

}  // namespace gdnplan::bench
