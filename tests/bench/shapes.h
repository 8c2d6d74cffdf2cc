// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The steps that benchmarks measure, as an engine's scheduler would send them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::bench {

struct Shape {
  std::string name;
  int32_t decodes = 0;
  int32_t spec_rows = 0;
  int32_t num_speculative_tokens = 0;
  int32_t prefills = 0;
  int32_t prefill_tokens = 0;  // of each
  int32_t groups = 1;
};

// The table of ARCHITECTURE.md and one of many groups.
std::vector<Shape> StandardShapes();

// A batch that owns its arrays. Block ids are random, from `seed`.
class ShapedBatch {
 public:
  ShapedBatch(const Shape& shape, uint32_t seed);
  ShapedBatch(const ShapedBatch&) = delete;
  ShapedBatch& operator=(const ShapedBatch&) = delete;
  ShapedBatch(ShapedBatch&&) = default;

  plan::BatchView view() const;
  // Limits of an engine that runs such batches: 1,024 rows, 16,384 tokens or what the batch needs.
  static plan::PlanConfig Config(const Shape& shape);

 private:
  std::vector<int32_t> query_start_loc_;
  std::vector<int32_t> seq_lens_;
  std::vector<uint8_t> is_prefilling_;
  std::vector<int32_t> num_decode_draft_tokens_;
  std::vector<int32_t> num_accepted_tokens_;
  std::vector<std::vector<int32_t>> block_ids_;
  std::vector<plan::BlockTableView> tables_;
};

}  // namespace gdnplan::bench
