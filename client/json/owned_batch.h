// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A batch that owns its arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gdnplan/plan/batch.h"

namespace gdnplan::json {

// Group's block table, row-major [rows, width].
struct OwnedBlockTable {
  std::vector<int32_t> block_ids;
  int32_t width = 0;

  plan::BlockTableView view() const { return {block_ids, width}; }
};

// The members of plan::BatchView, owned. An empty optional array is an absent one.
class OwnedBatch {
 public:
  plan::BatchKind kind = plan::BatchKind::kStep;
  std::vector<int32_t> query_start_loc;
  std::vector<int32_t> seq_lens;
  std::vector<uint8_t> is_prefilling;
  std::vector<int32_t> num_decode_draft_tokens;
  std::vector<int32_t> num_accepted_tokens;
  std::vector<OwnedBlockTable> block_tables;
  std::optional<int32_t> num_actual_tokens;

  // Valid until the batch is changed, destroyed or view() is called again. Not thread safe.
  plan::BatchView view() const;

 private:
  // What view() hands out: a BatchView points to an array of views.
  mutable std::vector<plan::BlockTableView> table_views_;
};

}  // namespace gdnplan::json
