// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/batch_writer.h"

#include <algorithm>
#include <cstddef>

#include "gdnplan/plan/constants.h"

namespace gdnplan::load {

std::vector<int32_t> CaptureSizes(const plan::PlanConfig& config) {
  const int32_t row = config.state_columns();
  std::vector<int32_t> sizes;
  for (int32_t size = 1; size <= config.capture_limit(); size += size < 8 ? size : 8) {
    const int32_t whole_rows = (size + row - 1) / row * row;
    if (whole_rows > config.capture_limit()) break;
    if (sizes.empty() || sizes.back() < whole_rows) sizes.push_back(whole_rows);
  }
  return sizes;
}

BatchWriter::BatchWriter(const plan::PlanConfig& config) : config_(config) {
  if (config.use_full_cuda_graph) capture_sizes_ = CaptureSizes(config);
}

void BatchWriter::Write(std::span<const ScheduledRow> rows, json::OwnedBatch& batch) const {
  const int32_t drafts = config_.num_speculative_tokens;
  int32_t tokens = 0;
  bool prefilling = false;
  for (const ScheduledRow& row : rows) {
    tokens += row.len;
    prefilling = prefilling || row.prefilling;
  }
  size_t padded_rows = rows.size();
  batch.num_actual_tokens = tokens;
  if (const int32_t graph = prefilling ? 0 : GraphTokens(tokens); graph > 0) {
    padded_rows = static_cast<size_t>(graph / config_.state_columns());
    batch.num_actual_tokens = graph;
  }

  batch.kind = plan::BatchKind::kStep;
  batch.query_start_loc.resize(padded_rows + 1);
  batch.seq_lens.resize(padded_rows);
  batch.is_prefilling.resize(padded_rows);
  batch.num_decode_draft_tokens.resize(drafts > 0 ? padded_rows : 0);
  batch.num_accepted_tokens.resize(drafts > 0 ? padded_rows : 0);
  batch.query_start_loc[0] = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ScheduledRow& row = rows[i];
    batch.query_start_loc[i + 1] = batch.query_start_loc[i] + row.len;
    batch.seq_lens[i] = row.computed + row.len;
    batch.is_prefilling[i] = row.prefilling ? 1 : 0;
    if (drafts == 0) continue;
    batch.num_decode_draft_tokens[i] = row.prefilling ? -1 : drafts;
    batch.num_accepted_tokens[i] = row.num_accepted_tokens;
  }
  for (size_t i = rows.size(); i < padded_rows; ++i) {
    batch.query_start_loc[i + 1] = tokens;
    batch.seq_lens[i] = 0;
    batch.is_prefilling[i] = 0;
    if (drafts == 0) continue;
    batch.num_decode_draft_tokens[i] = -1;
    batch.num_accepted_tokens[i] = plan::kPaddedAcceptedTokens;
  }
  batch.block_tables.resize(config_.groups.size());
  for (size_t g = 0; g < config_.groups.size(); ++g) {
    WriteTable(rows, padded_rows, g, batch.block_tables[g]);
  }
}

int32_t BatchWriter::GraphTokens(int32_t tokens) const {
  const auto size = std::lower_bound(capture_sizes_.begin(), capture_sizes_.end(), tokens);
  return size == capture_sizes_.end() ? 0 : *size;
}

// Columns that a plan does not read are null blocks: engines free what lies behind a state.
void BatchWriter::WriteTable(std::span<const ScheduledRow> rows, size_t padded_rows, size_t group,
                             json::OwnedBlockTable& table) const {
  const auto columns = static_cast<size_t>(config_.state_columns());
  int32_t last_first_column = 0;
  for (const ScheduledRow& row : rows) {
    last_first_column = std::max(last_first_column, row.blocks->first_column);
  }
  const size_t width = static_cast<size_t>(last_first_column) + columns;
  table.width = static_cast<int32_t>(width);
  table.block_ids.resize(padded_rows * width);
  const auto written = last_first_column == 0 ? rows.size() * width : 0;
  std::fill(table.block_ids.begin() + static_cast<ptrdiff_t>(written), table.block_ids.end(),
            plan::kNullBlockId);
  for (size_t i = 0; i < rows.size(); ++i) {
    const RequestBlocks& blocks = *rows[i].blocks;
    const int32_t* from = blocks.states.data() + group * columns;
    int32_t* to = table.block_ids.data() + i * width + static_cast<size_t>(blocks.first_column);
    // A call of memcpy would take longer than these few.
    for (size_t j = 0; j < columns; ++j) to[j] = from[j];
  }
}

}  // namespace gdnplan::load
