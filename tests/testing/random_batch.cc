// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/random_batch.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace gdnplan::test {
namespace {

constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

// How often each kind of row occurs, in percent; the rest are padded rows.
struct Mix {
  int32_t decodes;
  int32_t prefills;
  int32_t speculative;
};

Mix RandomMix(const plan::PlanConfig& config, Random& random) {
  static constexpr Mix kPlain[] = {{100, 0, 0}, {70, 0, 0}, {60, 40, 0}, {0, 100, 0}, {30, 40, 0}};
  static constexpr Mix kSpeculative[] = {{0, 0, 100}, {0, 0, 75},   {30, 0, 70},
                                         {0, 30, 60}, {20, 20, 40}, {90, 0, 5}};
  if (config.num_speculative_tokens > 0 && random.Chance(70)) {
    return kSpeculative[random.Between(0, 5)];
  }
  return kPlain[random.Between(0, 4)];
}

struct RowShape {
  int32_t len = 0;
  int32_t drafts = -1;
};

RowShape RandomRow(const plan::PlanConfig& config, const Mix& mix, bool uniform, Random& random) {
  const int32_t kind = random.Between(1, 100);
  if (kind <= mix.decodes) return {1, -1};
  if (kind <= mix.decodes + mix.prefills) {
    return {random.Chance(80) ? random.Between(2, 40) : random.Between(1, 400), -1};
  }
  if (kind <= mix.decodes + mix.prefills + mix.speculative) {
    const int32_t most = config.num_speculative_tokens;
    const int32_t drafts = uniform ? most : random.Between(0, most);
    return {drafts + 1, drafts};
  }
  // What the row held before may still be there.
  return {0, random.Chance(50) ? -1 : random.Between(-1, config.num_speculative_tokens)};
}

// A capture's rows are the graph's: up to 1 + K tokens each.
RowShape RandomCaptureRow(const plan::PlanConfig& config, bool uniform, Random& random) {
  if (uniform) return {config.num_speculative_tokens + 1, -1};
  return {random.Between(0, config.num_speculative_tokens + 1), -1};
}

// The longest sequence for which a table of a few dozen columns will do.
int32_t LongestSequence(const plan::PlanConfig& config) {
  int64_t longest = kMaxInt32;
  for (const plan::GroupConfig& group : config.groups) {
    if (group.mamba_cache_mode != plan::MambaCacheMode::kAlign) continue;
    longest = std::min(longest, int64_t{group.block_size} * 24);
  }
  return static_cast<int32_t>(longest);
}

int32_t RandomSeqLen(int32_t len, int32_t longest, Random& random) {
  // Padded rows have 0 or what was there before.
  if (len == 0 && random.Chance(50)) return 0;
  if (random.Chance(30) || len >= longest) return len;
  if (random.Chance(5)) return longest;
  return random.Between(len, std::max(len, std::min(longest, random.Chance(50) ? len + 8 : 5000)));
}

int32_t GarbageInt32(Random& random) {
  static constexpr int32_t kValues[] = {-1, std::numeric_limits<int32_t>::min(), kMaxInt32, 0, 77};
  return kValues[random.Between(0, 4)];
}

void AddSpeculation(const plan::PlanConfig& config, const std::vector<RowShape>& rows,
                    json::OwnedBatch& batch, Random& random) {
  for (const RowShape& row : rows) {
    batch.num_decode_draft_tokens.push_back(row.drafts);
    const bool read = row.drafts >= 0 && row.len > 0;
    batch.num_accepted_tokens.push_back(read ? random.Between(1, config.num_speculative_tokens + 1)
                                             : GarbageInt32(random));
  }
}

void AddPrefillingFlags(json::OwnedBatch& batch, Random& random) {
  const bool wild = random.Chance(20);
  for (size_t i = 0; i < batch.seq_lens.size(); ++i) {
    const int32_t len = batch.query_start_loc[i + 1] - batch.query_start_loc[i];
    const bool likely = len > 1 || (len == 1 && batch.seq_lens[i] == 1);
    batch.is_prefilling.push_back((wild ? random.Chance(50) : likely) ? 1 : 0);
  }
}

int32_t FirstColumn(const plan::GroupConfig& group, int32_t seq_len) {
  if (group.mamba_cache_mode != plan::MambaCacheMode::kAlign || seq_len <= 0) return 0;
  return (seq_len - 1) / group.block_size;
}

}  // namespace

int32_t Random::Between(int32_t low, int32_t high) {
  const auto choices = static_cast<uint64_t>(int64_t{high} - low + 1);
  return static_cast<int32_t>(low + static_cast<int64_t>(engine_() % choices));
}

plan::PlanConfig RandomConfig(Random& random) {
  plan::PlanConfig config;
  config.max_num_seqs = random.Chance(20) ? random.Between(1, 3) : random.Between(4, 40);
  config.max_num_batched_tokens =
      random.Chance(80) ? random.Between(200, 1500) : random.Between(1, 200);
  config.num_speculative_tokens = random.Chance(30) ? 0 : random.Between(1, 5);
  config.use_full_cuda_graph = random.Chance(70);
  if (random.Chance(40)) {
    config.max_cudagraph_capture_size = random.Between(1, random.Chance(50) ? 12 : 64);
  }
  config.prefill_backend = static_cast<plan::PrefillBackend>(random.Between(0, 2));
  config.chunk_size = random.Chance(50) ? 64 : 1 << random.Between(0, 8);
  const int32_t groups = random.Chance(50) ? 1 : random.Between(2, 6);
  for (int32_t g = 0; g < groups; ++g) {
    plan::GroupConfig group;
    group.mamba_cache_mode = static_cast<plan::MambaCacheMode>(random.Between(0, 2));
    group.block_size =
        random.Chance(20) ? kMaxInt32 / random.Between(1, 3) : random.Between(1, 512);
    config.groups.push_back(group);
  }
  return config;
}

json::OwnedBlockTable RandomBlockTable(const plan::PlanConfig& config, int32_t group_index,
                                       const json::OwnedBatch& batch, Random& random) {
  const plan::GroupConfig& group = config.groups[static_cast<size_t>(group_index)];
  const int32_t states = config.num_speculative_tokens + 1;
  const size_t rows = batch.seq_lens.size();
  json::OwnedBlockTable table;
  table.width = states;
  for (size_t i = 0; i < rows; ++i) {
    if (batch.query_start_loc[i + 1] == batch.query_start_loc[i]) continue;
    table.width = std::max(table.width, FirstColumn(group, batch.seq_lens[i]) + states);
  }
  // Without spare columns the last row's gather ends at the table's edge.
  if (group.mamba_cache_mode != plan::MambaCacheMode::kNone && random.Chance(70)) {
    table.width += random.Between(1, 6);
  }
  for (size_t i = 0; i < rows; ++i) {
    const bool padded = batch.query_start_loc[i + 1] == batch.query_start_loc[i];
    const int32_t first = FirstColumn(group, batch.seq_lens[i]);
    for (int32_t column = 0; column < table.width; ++column) {
      const bool read = !padded && column >= first && column < first + states;
      const int32_t block = random.Chance(2) ? kMaxInt32 : random.Between(0, 9999);
      table.block_ids.push_back(read ? block : GarbageInt32(random));
    }
  }
  return table;
}

json::OwnedBatch RandomBatch(const plan::PlanConfig& config, Random& random) {
  json::OwnedBatch batch;
  const int64_t capture_limit =
      std::min<int64_t>(int64_t{config.max_num_seqs} * (config.num_speculative_tokens + 1),
                        config.max_cudagraph_capture_size.value_or(kMaxInt32));
  int32_t max_rows = config.max_num_seqs;
  int32_t max_tokens = config.max_num_batched_tokens;
  if (random.Chance(10)) {
    batch.kind = plan::BatchKind::kCudagraphCapture;
    max_rows = static_cast<int32_t>(std::min<int64_t>(max_rows, capture_limit));
    max_tokens = static_cast<int32_t>(std::min<int64_t>(max_tokens, capture_limit));
  }
  const bool capture = batch.kind == plan::BatchKind::kCudagraphCapture;
  const int32_t num_rows = random.Chance(25) ? max_rows : random.Between(1, max_rows);
  const int32_t padded_behind = random.Chance(30) ? random.Between(0, num_rows - 1) : 0;
  const Mix mix = RandomMix(config, random);
  const bool uniform = random.Chance(40);
  const bool ordered = random.Chance(50);
  std::vector<RowShape> rows;
  int32_t tokens = 0;
  for (int32_t i = 0; i < num_rows - padded_behind; ++i) {
    RowShape row = capture ? RandomCaptureRow(config, uniform, random)
                           : RandomRow(config, mix, uniform, random);
    const bool prefill = row.len > 1 && row.drafts < 0 && !capture;
    if (prefill && random.Chance(10)) row.len = max_tokens - tokens;
    if (row.len > max_tokens - tokens) row = {};
    tokens += row.len;
    rows.push_back(row);
  }
  // Schedulers put the short rows first; planners must not rely on it.
  if (ordered) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const RowShape& a, const RowShape& b) { return a.len < b.len; });
  }
  rows.resize(static_cast<size_t>(num_rows));

  const int32_t longest = LongestSequence(config);
  batch.query_start_loc.push_back(0);
  for (const RowShape& row : rows) {
    batch.query_start_loc.push_back(batch.query_start_loc.back() + row.len);
    batch.seq_lens.push_back(std::max(row.len, RandomSeqLen(row.len, longest, random)));
  }
  if (random.Chance(50)) {
    batch.num_actual_tokens = random.Chance(50) ? tokens : random.Between(tokens, max_tokens);
  }
  if (config.num_speculative_tokens > 0 && !capture && (mix.speculative > 0 || random.Chance(80))) {
    AddSpeculation(config, rows, batch, random);
  }
  if (random.Chance(80)) AddPrefillingFlags(batch, random);
  for (int32_t g = 0; g < config.num_groups(); ++g) {
    batch.block_tables.push_back(RandomBlockTable(config, g, batch, random));
  }
  return batch;
}

}  // namespace gdnplan::test
