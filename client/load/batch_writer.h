// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// From scheduled rows to a batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/json/owned_batch.h"
#include "client/load/request_blocks.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::load {

// A request's part in a step.
struct ScheduledRow {
  int32_t request = 0;  // index, and owner of the blocks
  int32_t slot = 0;     // the scheduler's
  int32_t len = 0;      // query tokens
  int32_t computed = 0;
  bool prefilling = false;
  int32_t num_accepted_tokens = 1;        // of the step before
  const RequestBlocks* blocks = nullptr;  // those the step works on
};

// Token counts for which engines capture full graphs, rising: 1, 2, 4, then multiples of 8, up to
// the configuration's capture_limit; with speculation rounded up to whole rows.
std::vector<int32_t> CaptureSizes(const plan::PlanConfig& config);

class BatchWriter {
 public:
  // `config` must be valid, and all rows must be able to decode in one step.
  explicit BatchWriter(const plan::PlanConfig& config);

  // Rows are written in their order. A batch of decodes alone that a captured graph has room for is
  // padded to that graph's size. Arrays of `batch` keep their memory.
  void Write(std::span<const ScheduledRow> rows, json::OwnedBatch& batch) const;

 private:
  // Of a graph for that many tokens or more; 0: none is as large.
  int32_t GraphTokens(int32_t tokens) const;
  void WriteTable(std::span<const ScheduledRow> rows, size_t padded_rows, size_t group,
                  json::OwnedBlockTable& table) const;

  plan::PlanConfig config_;
  std::vector<int32_t> capture_sizes_;
};

}  // namespace gdnplan::load
