// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/owned_batch.h"

namespace gdnplan::json {

plan::BatchView OwnedBatch::view() const {
  table_views_.clear();
  for (const OwnedBlockTable& table : block_tables) table_views_.push_back(table.view());
  return {
      .kind = kind,
      .query_start_loc = query_start_loc,
      .seq_lens = seq_lens,
      .is_prefilling = is_prefilling,
      .num_decode_draft_tokens = num_decode_draft_tokens,
      .num_accepted_tokens = num_accepted_tokens,
      .block_tables = table_views_,
      .num_actual_tokens = num_actual_tokens,
  };
}

}  // namespace gdnplan::json
