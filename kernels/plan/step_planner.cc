// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/step_planner.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/elements.h"
#include "gdnplan/plan/status.h"
#include "gdnplan/plan/validate.h"
#include "plan/carver.h"

namespace gdnplan::plan {
namespace {

template <typename Arrays>
Arrays Carve(Carver& carver, const PlanConfig& config) {
  const auto rows = static_cast<size_t>(config.max_num_seqs);
  Arrays arrays;
  arrays.query_start_loc = carver.Take<int32_t>(rows + 1);
  arrays.seq_lens = carver.Take<int32_t>(rows);
  arrays.num_accepted_tokens = carver.Take<int32_t>(rows);
  arrays.spec_rows = carver.Take<int32_t>(rows);
  arrays.non_spec_rows = carver.Take<int32_t>(rows);
  arrays.spec_query_start_loc = carver.Take<int32_t>(rows + 1);
  arrays.non_spec_query_start_loc = carver.Take<int32_t>(rows + 1);
  arrays.chunk_offsets = carver.Take<int32_t>(rows + 1);
  arrays.conv_offsets = carver.Take<int32_t>(rows + 1);
  arrays.empty_rows = carver.Take<int32_t>(rows);
  arrays.spec_sequence_masks = carver.Take<uint8_t>(rows);
  return arrays;
}

void Copy(std::span<const int32_t> from, int32_t* to) {
  if (from.empty()) return;  // an absent array has no address
  std::memcpy(to, from.data(), from.size_bytes());
}

}  // namespace

size_t StepPlanner::ScratchBytes(const PlanConfig& config) {
  Carver carver(nullptr);
  Carve<Arrays>(carver, config);
  return carver.used();
}

StepPlanner::StepPlanner(const PlanConfig& config, std::span<std::byte> scratch)
    : config_(config), slot_layout_(config), groups_(config.groups.size()) {
  if (scratch.empty()) {
    own_scratch_.resize(ScratchBytes(config) + kArrayAlignment);
    void* start = own_scratch_.data();
    size_t space = own_scratch_.size();
    std::align(kArrayAlignment, ScratchBytes(config), start, space);
    scratch = {static_cast<std::byte*>(start), ScratchBytes(config)};
  }
  Carver carver(scratch.data());
  arrays_ = Carve<Arrays>(carver, config);
}

absl::Status StepPlanner::Plan(const BatchView& batch) {
  GDNPLAN_RETURN_IF_ERROR(ValidateBatch(config_, batch));
  CopyBatch(batch);
  if (HasSpeculativeWork(batch)) {
    ClassifySpeculative();
  } else {
    ClassifyPlain(batch);
  }
  SetPrefills();
  SetEmptyRows();
  SetLayout();
  return absl::OkStatus();
}

absl::Status StepPlanner::Regather(int32_t group, const BlockTableView& table) {
  if (!has_step()) return absl::FailedPreconditionError("no step has been planned yet");
  if (group < 0 || group >= config_.num_groups()) {
    return InvalidField(
        "group", absl::StrCat("must be in 0..", config_.num_groups() - 1, " (got ", group, ")"));
  }
  const auto rows = static_cast<size_t>(input_.num_rows);
  GDNPLAN_RETURN_IF_ERROR(ValidateBlockTable(config_, group, {arrays_.query_start_loc, rows + 1},
                                             {arrays_.seq_lens, rows}, table, {"block_table"}));
  GroupInput& input = groups_[static_cast<size_t>(group)];
  input.block_ids = table.block_ids.data();
  input.width = table.width;
  return absl::OkStatus();
}

void StepPlanner::CopyBatch(const BatchView& batch) {
  input_ = StepInput{};
  input_.num_rows = batch.num_rows();
  input_.num_groups = config_.num_groups();
  input_.state_columns = config_.state_columns();
  input_.chunk_size = config_.chunk_size;
  input_.counts.num_actual_tokens = batch.num_actual_tokens.value_or(batch.query_start_loc.back());
  Copy(batch.query_start_loc, arrays_.query_start_loc);
  Copy(batch.seq_lens, arrays_.seq_lens);
  input_.query_start_loc = arrays_.query_start_loc;
  input_.seq_lens = arrays_.seq_lens;
  if (batch.kind == BatchKind::kStep) {
    Copy(batch.num_accepted_tokens, arrays_.num_accepted_tokens);
    input_.num_accepted_tokens = arrays_.num_accepted_tokens;
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    const GroupConfig& group = config_.groups[g];
    groups_[g].block_ids = batch.block_tables[g].block_ids.data();
    groups_[g].width = batch.block_tables[g].width;
    groups_[g].align_block_size =
        group.mamba_cache_mode == MambaCacheMode::kAlign ? group.block_size : 0;
  }
  input_.groups = groups_.data();
}

// Marks the speculative rows on the way; the marks count only when the answer is yes.
bool StepPlanner::HasSpeculativeWork(const BatchView& batch) const {
  if (config_.num_speculative_tokens == 0) return false;
  const bool capture = batch.kind == BatchKind::kCudagraphCapture;
  if (!capture && batch.num_decode_draft_tokens.empty()) return false;
  int64_t drafted = 0;
  for (int32_t i = 0; i < input_.num_rows; ++i) {
    const int32_t len = RowLength(input_, i);
    const int32_t drafts =
        capture ? len - 1 : batch.num_decode_draft_tokens[static_cast<size_t>(i)];
    const bool spec = IsSpeculative(drafts, len);
    arrays_.spec_sequence_masks[i] = spec ? 1 : 0;
    if (spec) drafted += drafts;
  }
  return drafted > 0;
}

void StepPlanner::ClassifyPlain(const BatchView& batch) {
  StepInput& in = input_;
  const int32_t rows = in.num_rows;
  const auto begins_prefills = [&](int32_t i) {
    const int32_t len = RowLength(in, i);
    if (len > 1) return true;
    return !batch.is_prefilling.empty() && batch.is_prefilling[static_cast<size_t>(i)] != 0 &&
           len > 0 && !HasInitialState(in.seq_lens[i], len);
  };
  int32_t decodes = 0;
  while (decodes < rows && !begins_prefills(decodes)) ++decodes;

  in.num_non_spec_rows = rows;
  in.non_spec_query_start_loc = in.query_start_loc;
  in.counts.num_decodes = decodes;
  in.counts.num_decode_tokens = in.counts.num_actual_tokens;
  if (decodes == rows) {
    if (config_.use_full_cuda_graph && rows <= config_.capture_limit()) {
      in.counts.staging = Staging::kDecode;
    }
    return;
  }
  for (int32_t i = decodes; i < rows; ++i) {
    if (RowLength(in, i) > 0) ++in.counts.num_prefills;
  }
  in.counts.num_decode_tokens = in.query_start_loc[decodes];
  in.counts.num_prefill_tokens = in.query_start_loc[rows] - in.counts.num_decode_tokens;
  in.prefill_begin = decodes;
  in.prefill_first_token = in.counts.num_decode_tokens;
}

void StepPlanner::ClassifySpeculative() {
  StepInput& in = input_;
  in.speculative = true;
  in.spec_sequence_masks = arrays_.spec_sequence_masks;
  in.spec_rows = arrays_.spec_rows;
  in.non_spec_rows = arrays_.non_spec_rows;
  in.spec_query_start_loc = arrays_.spec_query_start_loc;
  in.non_spec_query_start_loc = arrays_.non_spec_query_start_loc;

  int32_t spec = 0;
  int32_t other = 0;
  int32_t spec_tokens = 0;
  int32_t other_tokens = 0;
  int32_t decodes = 0;
  int32_t prefills = 0;
  bool uniform = true;
  arrays_.spec_query_start_loc[0] = 0;
  arrays_.non_spec_query_start_loc[0] = 0;
  for (int32_t i = 0; i < in.num_rows; ++i) {
    const int32_t len = RowLength(in, i);
    if (arrays_.spec_sequence_masks[i] != 0) {
      // The first row's length is the sum after it.
      arrays_.spec_rows[spec++] = i;
      spec_tokens += len;
      arrays_.spec_query_start_loc[spec] = spec_tokens;
      uniform = uniform && len == arrays_.spec_query_start_loc[1];
    } else {
      arrays_.non_spec_rows[other++] = i;
      other_tokens += len;
      arrays_.non_spec_query_start_loc[other] = other_tokens;
      if (len == 1) ++decodes;
      if (len > 1) ++prefills;
    }
  }
  in.num_spec_rows = spec;
  in.num_staged_rows = spec;
  in.num_non_spec_rows = other;
  in.counts.num_spec_decodes = spec;
  in.counts.num_spec_decode_tokens = spec_tokens;
  in.counts.uniform_spec_sequence_length = uniform ? arrays_.spec_query_start_loc[1] : 0;
  // Decodes and speculative rows exclude one another, and there is a speculative row: every other
  // row is a prefill.
  in.counts.num_prefills = prefills + decodes;
  in.counts.num_prefill_tokens = other_tokens;
  SetSpeculativeStaging();
}

void StepPlanner::SetSpeculativeStaging() {
  StepInput& in = input_;
  const int32_t limit = config_.capture_limit();
  if (!config_.use_full_cuda_graph || in.counts.num_prefills > 0) return;
  if (in.num_rows > limit || in.counts.num_spec_decode_tokens > limit) return;
  in.counts.staging = Staging::kSpecDecode;
  in.num_staged_rows = in.num_rows;
}

void StepPlanner::SetEmptyRows() {
  StepInput& in = input_;
  const int32_t* starts = in.non_spec_query_start_loc;
  int32_t empty = 0;
  for (int32_t n = 0; n < in.num_non_spec_rows; ++n) {
    // Without a branch: the place is overwritten until a row is empty.
    arrays_.empty_rows[empty] = n;
    empty += starts[n + 1] == starts[n] ? 1 : 0;
  }
  in.num_empty_rows = empty;
  in.empty_rows = arrays_.empty_rows;
}

void StepPlanner::SetPrefills() {
  StepInput& in = input_;
  if (in.counts.num_prefills == 0) return;
  in.num_prefill_rows = in.num_non_spec_rows - in.prefill_begin;
  in.chunk_offsets = arrays_.chunk_offsets;
  in.conv_offsets = arrays_.conv_offsets;

  const int32_t* starts = in.non_spec_query_start_loc;
  int32_t chunks = 0;
  arrays_.chunk_offsets[0] = 0;
  for (int32_t p = 0; p < in.num_prefill_rows; ++p) {
    const int32_t n = in.prefill_begin + p;
    chunks += CeilDiv(starts[n + 1] - starts[n], in.chunk_size);
    arrays_.chunk_offsets[p + 1] = chunks;
  }
  int32_t programs = 0;
  arrays_.conv_offsets[0] = 0;
  for (int32_t n = 0; n < in.num_non_spec_rows; ++n) {
    programs += CeilDiv(starts[n + 1] - starts[n], kConvBlockM);
    arrays_.conv_offsets[n + 1] = programs;
  }
  in.counts.num_conv_programs = programs;
  in.num_chunk_rows =
      config_.prefill_backend == PrefillBackend::kCutedsl
          ? CutedslChunkRows(in.num_prefill_rows, in.counts.num_prefill_tokens, in.chunk_size)
          : chunks;
}

}  // namespace gdnplan::plan
