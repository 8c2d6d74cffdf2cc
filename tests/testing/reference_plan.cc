// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/reference_plan.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gdnplan::test {
namespace {

using plan::TensorId;
using Numbers = std::vector<int32_t>;

int32_t Size(const Numbers& numbers) { return static_cast<int32_t>(numbers.size()); }

// How many pieces of `piece` tokens cover `tokens`.
int32_t Pieces(int32_t tokens, int32_t piece) {
  int32_t pieces = 0;
  for (int64_t covered = 0; covered < tokens; covered += piece) ++pieces;
  return pieces;
}

// The rounding up of tokens/piece, below zero too.
int32_t RoundedUp(int32_t tokens, int32_t piece) {
  return tokens >= 0 ? Pieces(tokens, piece) : -(-tokens / piece);
}

// One row of the batch.
struct Row {
  int32_t begin = 0;
  int32_t len = 0;
  int32_t seq_len = 0;
  int32_t computed = 0;
  bool prefilling = false;
  int32_t drafts = -1;
  int32_t accepted = 0;
  bool spec = false;
  std::vector<Numbers> states;  // per group, 1 + K of them
};

Numbers StatesOf(const plan::PlanConfig& config, const plan::BatchView& batch, size_t group,
                 size_t row, const Row& about) {
  const size_t columns = static_cast<size_t>(config.num_speculative_tokens) + 1;
  if (about.len == 0) return Numbers(columns, 0);
  size_t first = 0;
  if (config.groups[group].mamba_cache_mode == plan::MambaCacheMode::kAlign) {
    const int32_t block = (about.seq_len - 1) / config.groups[group].block_size;
    first = static_cast<size_t>(std::max(0, block));
  }
  const plan::BlockTableView& table = batch.block_tables[group];
  Numbers states;
  for (size_t j = 0; j < columns; ++j) {
    states.push_back(table.block_ids[row * static_cast<size_t>(table.width) + first + j]);
  }
  return states;
}

std::vector<Row> RowsOf(const plan::PlanConfig& config, const plan::BatchView& batch) {
  const bool capture = batch.kind == plan::BatchKind::kCudagraphCapture;
  std::vector<Row> rows;
  for (size_t i = 0; i < batch.seq_lens.size(); ++i) {
    Row row;
    row.begin = batch.query_start_loc[i];
    row.len = batch.query_start_loc[i + 1] - batch.query_start_loc[i];
    row.seq_len = batch.seq_lens[i];
    row.computed = row.seq_len - row.len;
    row.prefilling = !batch.is_prefilling.empty() && batch.is_prefilling[i] != 0;
    if (!batch.num_decode_draft_tokens.empty()) row.drafts = batch.num_decode_draft_tokens[i];
    if (!batch.num_accepted_tokens.empty()) row.accepted = batch.num_accepted_tokens[i];
    if (capture) {
      row.drafts = row.len - 1;
      row.accepted = row.len;
    }
    row.spec = row.drafts >= 0 && row.len > 0;
    for (size_t g = 0; g < config.groups.size(); ++g) {
      row.states.push_back(StatesOf(config, batch, g, i, row));
    }
    rows.push_back(row);
  }
  return rows;
}

// The running sum of the rows' lengths, from 0.
Numbers StartsOf(const std::vector<Row>& rows) {
  Numbers starts = {0};
  for (const Row& row : rows) starts.push_back(starts.back() + row.len);
  return starts;
}

class Planner {
 public:
  Planner(const plan::PlanConfig& config, const plan::BatchView& batch)
      : config_(config), rows_(RowsOf(config, batch)) {
    for (const Row& row : rows_) (row.spec ? spec_rows_ : other_rows_).push_back(row);
    const int32_t query_tokens = batch.query_start_loc.back();
    counts().num_actual_tokens = batch.num_actual_tokens.value_or(query_tokens);
    capture_limit_ = int64_t{config.max_num_seqs} * (config.num_speculative_tokens + 1);
    if (config.max_cudagraph_capture_size.has_value()) {
      capture_limit_ = std::min<int64_t>(capture_limit_, *config.max_cudagraph_capture_size);
    }
  }

  ReferencePlan Make() {
    int64_t drafts = 0;
    for (const Row& row : spec_rows_) drafts += row.drafts;
    if (config_.num_speculative_tokens > 0 && drafts > 0) {
      Speculative();
    } else {
      Plain();
    }
    return plan_;
  }

 private:
  plan::PlanCounts& counts() { return plan_.counts; }
  bool FitsGraph(int32_t number) const { return number <= capture_limit_; }

  void Put(TensorId id, const Numbers& data) { Put(id, 0, {Size(data)}, data); }
  void Put(TensorId id, int32_t group, const Numbers& dims, const Numbers& data) {
    plan_.tensors[{id, group}] = {dims, data};
  }
  // The first state of each of the rows, for every group.
  void PutFirstStates(TensorId id, const std::vector<Row>& rows) {
    for (size_t g = 0; g < config_.groups.size(); ++g) {
      Numbers states;
      for (const Row& row : rows) states.push_back(row.states[g][0]);
      Put(id, static_cast<int32_t>(g), {Size(states)}, states);
    }
  }

  void Plain() {
    size_t first_prefill = 0;
    for (; first_prefill < rows_.size(); ++first_prefill) {
      const Row& row = rows_[first_prefill];
      const bool no_prior_state = row.prefilling && row.len > 0 && row.computed <= 0;
      if (row.len > 1 || no_prior_state) break;
    }
    const Numbers starts = StartsOf(rows_);
    counts().num_decodes = static_cast<int32_t>(first_prefill);
    const std::vector<Row> prefills(rows_.begin() + counts().num_decodes, rows_.end());
    if (prefills.empty()) {
      counts().num_decode_tokens = counts().num_actual_tokens;
    } else {
      for (const Row& row : prefills) counts().num_prefills += row.len > 0 ? 1 : 0;
      counts().num_decode_tokens = starts[first_prefill];
      counts().num_prefill_tokens = starts.back() - counts().num_decode_tokens;
    }
    Put(TensorId::kNonSpecQueryStartLoc, starts);
    PutFirstStates(TensorId::kNonSpecStateIndices, rows_);
    if (counts().num_prefills > 0) {
      Prefills(rows_, prefills);
    } else if (config_.use_full_cuda_graph && FitsGraph(static_cast<int32_t>(rows_.size()))) {
      counts().staging = plan::Staging::kDecode;
    }
  }

  void Speculative() {
    for (const Row& row : other_rows_) {
      if (row.len == 1) ++counts().num_decodes;
      if (row.len > 1) ++counts().num_prefills;
      if (row.len > 1) counts().num_prefill_tokens += row.len;
    }
    // Decodes beside speculative rows become prefills, of one token each.
    counts().num_prefills += counts().num_decodes;
    counts().num_prefill_tokens += counts().num_decodes;
    counts().num_decodes = 0;
    counts().num_spec_decodes = static_cast<int32_t>(spec_rows_.size());
    bool uniform = true;
    for (const Row& row : spec_rows_) {
      counts().num_spec_decode_tokens += row.len;
      uniform = uniform && row.len == spec_rows_[0].len;
    }
    counts().uniform_spec_sequence_length = uniform ? spec_rows_[0].len : 0;
    if (config_.use_full_cuda_graph && counts().num_prefills == 0 &&
        FitsGraph(static_cast<int32_t>(rows_.size())) &&
        FitsGraph(counts().num_spec_decode_tokens)) {
      counts().staging = plan::Staging::kSpecDecode;
    }
    SpeculativeRowTensors();
    TokenTensors();
    if (counts().num_prefills > 0) {
      Put(TensorId::kNonSpecQueryStartLoc, StartsOf(other_rows_));
      PutFirstStates(TensorId::kNonSpecStateIndices, other_rows_);
      Prefills(other_rows_, other_rows_);
    }
  }

  void SpeculativeRowTensors() {
    const bool staged = counts().staging == plan::Staging::kSpecDecode;
    const size_t padded_rows = staged ? rows_.size() : spec_rows_.size();
    Numbers starts = StartsOf(spec_rows_);
    starts.resize(padded_rows + 1, starts.back());
    Put(TensorId::kSpecQueryStartLoc, starts);
    Numbers accepted;
    for (const Row& row : spec_rows_) accepted.push_back(row.accepted);
    accepted.resize(padded_rows, 1);
    Put(TensorId::kNumAcceptedTokens, accepted);
    Numbers masks;
    for (const Row& row : rows_) masks.push_back(row.spec ? 1 : 0);
    Put(TensorId::kSpecSequenceMasks, masks);
    const int32_t columns = config_.num_speculative_tokens + 1;
    for (size_t g = 0; g < config_.groups.size(); ++g) {
      Numbers states;
      for (const Row& row : spec_rows_) {
        states.insert(states.end(), row.states[g].begin(), row.states[g].end());
      }
      states.resize(padded_rows * static_cast<size_t>(columns), 0);
      Put(TensorId::kSpecStateIndices, static_cast<int32_t>(g),
          {static_cast<int32_t>(padded_rows), columns}, states);
    }
  }

  void TokenTensors() {
    Numbers spec_tokens;
    Numbers other_tokens;
    for (const Row& row : rows_) {
      for (int32_t t = 0; t < row.len; ++t) {
        (row.spec ? spec_tokens : other_tokens).push_back(row.begin + t);
      }
    }
    Put(TensorId::kSpecTokenIndx, spec_tokens);
    Put(TensorId::kNonSpecTokenIndx, other_tokens);
  }

  // `rows`: all rows that are not speculative; `prefills`: those of the prefill tensors.
  void Prefills(const std::vector<Row>& rows, const std::vector<Row>& prefills) {
    Numbers has_state;
    for (const Row& row : rows) has_state.push_back(row.computed > 0 ? 1 : 0);
    Put(TensorId::kHasInitialState, has_state);
    Put(TensorId::kPrefillQueryStartLoc, StartsOf(prefills));
    PutFirstStates(TensorId::kPrefillStateIndices, prefills);
    Numbers prefill_has_state;
    for (const Row& row : prefills) prefill_has_state.push_back(row.computed > 0 ? 1 : 0);
    Put(TensorId::kPrefillHasInitialState, prefill_has_state);
    Chunks(prefills);
    ConvPrograms(rows);
  }

  void Chunks(const std::vector<Row>& prefills) {
    Numbers offsets = {0};
    Numbers indices;
    int32_t tokens = 0;
    for (size_t s = 0; s < prefills.size(); ++s) {
      const int32_t chunks = Pieces(prefills[s].len, config_.chunk_size);
      for (int32_t c = 0; c < chunks; ++c) {
        indices.push_back(static_cast<int32_t>(s));
        indices.push_back(c);
      }
      offsets.push_back(offsets.back() + chunks);
      tokens += prefills[s].len;
    }
    int32_t chunk_rows = offsets.back();
    if (config_.prefill_backend == plan::PrefillBackend::kCutedsl) {
      const auto others = static_cast<int32_t>(prefills.size()) - 1;
      chunk_rows = others + RoundedUp(tokens - others, config_.chunk_size);
      indices.resize(static_cast<size_t>(chunk_rows) * 2, kUnspecified);
    }
    Put(TensorId::kChunkOffsets, offsets);
    Put(TensorId::kChunkIndices, 0, {chunk_rows, 2}, indices);
  }

  void ConvPrograms(const std::vector<Row>& rows) {
    Numbers nums;
    Numbers row_of_program;
    Numbers index_in_row;
    for (size_t s = 0; s < rows.size(); ++s) {
      nums.push_back(Pieces(rows[s].len, 8));
      for (int32_t p = 0; p < nums.back(); ++p) {
        row_of_program.push_back(static_cast<int32_t>(s));
        index_in_row.push_back(p);
      }
    }
    counts().num_conv_programs = Size(row_of_program);
    const size_t padded = std::max<size_t>(1024, row_of_program.size()) * 2;
    row_of_program.resize(padded, -1);
    index_in_row.resize(padded, -1);
    Put(TensorId::kNums, nums);
    Put(TensorId::kBatchPtr, row_of_program);
    Put(TensorId::kTokenChunkOffsetPtr, index_in_row);
  }

  const plan::PlanConfig& config_;
  const std::vector<Row> rows_;
  std::vector<Row> spec_rows_;
  std::vector<Row> other_rows_;
  int64_t capture_limit_ = 0;
  ReferencePlan plan_;
};

}  // namespace

std::optional<json::TensorData> ReferencePlan::Find(plan::TensorId id, int32_t group) const {
  const auto it = tensors.find({id, plan::Spec(id).per_group ? group : 0});
  if (it == tensors.end()) return std::nullopt;
  return it->second;
}

ReferencePlan MakeReferencePlan(const plan::PlanConfig& config, const plan::BatchView& batch) {
  return Planner(config, batch).Make();
}

}  // namespace gdnplan::test
