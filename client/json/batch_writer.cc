// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/batch_writer.h"

#include <cstdint>
#include <span>
#include <vector>

#include "gdnplan/plan/names.h"

namespace gdnplan::json {
namespace {

using Json = nlohmann::ordered_json;

Json WriteConfig(const plan::PlanConfig& config) {
  Json object = {{"max_num_seqs", config.max_num_seqs},
                 {"max_num_batched_tokens", config.max_num_batched_tokens},
                 {"num_speculative_tokens", config.num_speculative_tokens},
                 {"use_full_cuda_graph", config.use_full_cuda_graph},
                 {"prefill_backend", plan::Name(config.prefill_backend)},
                 {"chunk_size", config.chunk_size}};
  if (config.max_cudagraph_capture_size.has_value()) {
    object["max_cudagraph_capture_size"] = *config.max_cudagraph_capture_size;
  }
  for (const plan::GroupConfig& group : config.groups) {
    object["groups"].push_back({{"name", group.name},
                                {"mamba_cache_mode", plan::Name(group.mamba_cache_mode)},
                                {"block_size", group.block_size}});
  }
  return object;
}

Json WriteTable(const OwnedBlockTable& table, size_t num_rows) {
  Json rows = Json::array();
  const auto width = static_cast<size_t>(table.width);
  const std::span<const int32_t> ids = table.block_ids;
  for (size_t row = 0; row < num_rows && (row + 1) * width <= ids.size(); ++row) {
    const std::span<const int32_t> columns = ids.subspan(row * width, width);
    rows.push_back(std::vector<int32_t>(columns.begin(), columns.end()));
  }
  return rows;
}

}  // namespace

Json WriteBatch(const plan::PlanConfig& config, const OwnedBatch& batch) {
  Json object = {{"query_start_loc", batch.query_start_loc}, {"seq_lens", batch.seq_lens}};
  // An empty array is an absent one.
  if (!batch.is_prefilling.empty()) {
    for (const uint8_t flag : batch.is_prefilling) object["is_prefilling"].push_back(flag != 0);
  }
  if (!batch.num_decode_draft_tokens.empty()) {
    object["num_decode_draft_tokens"] = batch.num_decode_draft_tokens;
  }
  if (!batch.num_accepted_tokens.empty()) {
    object["num_accepted_tokens"] = batch.num_accepted_tokens;
  }
  if (batch.num_actual_tokens.has_value()) object["num_actual_tokens"] = *batch.num_actual_tokens;
  object["block_tables"] = Json::array();
  for (const OwnedBlockTable& table : batch.block_tables) {
    object["block_tables"].push_back(WriteTable(table, batch.seq_lens.size()));
  }
  return {{"config", WriteConfig(config)},
          {"batch", object},
          {"op", batch.kind == plan::BatchKind::kStep ? "build" : "build_for_cudagraph_capture"}};
}

}  // namespace gdnplan::json
