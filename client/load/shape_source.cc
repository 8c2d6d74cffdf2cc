// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/shape_source.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/names.h"
#include "gdnplan/plan/plan_math.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

constexpr int32_t kUsualBlockSize = 544;
// Tokens that rows which decode have computed before.
constexpr int32_t kMinContext = 500;
constexpr int32_t kMaxContext = 4499;
constexpr int32_t kMaxBlockId = 100'000;

// Like those of the text itself.
absl::Status Refuse(const Shape& shape, std::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("shape \"", absl::CHexEscape(shape.text), "\": ", plan::ToAbsl(reason)));
}

// Names a mode in errors as --shape does.
int32_t Printable(int32_t value) { return value; }
const char* Printable(plan::MambaCacheMode mode) { return plan::Name(mode); }

// What the shapes say of their session, or `usual` where none says anything.
template <typename T>
absl::StatusOr<T> Common(const std::vector<Shape>& shapes, std::string_view key,
                         std::optional<T> Shape::*member, T usual) {
  std::optional<T> common;
  for (const Shape& shape : shapes) {
    const std::optional<T>& value = shape.*member;
    if (value.has_value() && common.has_value() && *value != *common) {
      return Refuse(shape, absl::StrCat(plan::ToAbsl(key), " must be the ", Printable(*common),
                                        " of a shape before, for they share a session (got ",
                                        Printable(*value), ")"));
    }
    if (value.has_value()) common = value;
  }
  return common.value_or(usual);
}

int64_t TokensOf(const Shape& shape, int32_t drafts) {
  return shape.decodes + int64_t{shape.spec_rows} * (drafts + 1) +
         int64_t{shape.prefills} * shape.prefill_tokens;
}

// Graph replays count the padded rows' tokens; a step with prefills is not replayed.
int64_t ActualTokensOf(const Shape& shape, int32_t drafts) {
  const int32_t row = shape.spec_rows > 0 ? drafts + 1 : 1;
  return TokensOf(shape, drafts) + (shape.prefills > 0 ? 0 : int64_t{shape.padded} * row);
}

absl::Status CheckLimit(const Shape& shape, std::string_view what, int64_t value,
                        std::string_view field, int64_t limit) {
  if (value <= limit) return absl::OkStatus();
  return Refuse(shape,
                absl::StrCat("has ", value, " ", plan::ToAbsl(what), ", over ", plan::ToAbsl(field),
                             " ", limit, "; ask for fewer or raise the limit"));
}

absl::Status SetSession(const std::vector<Shape>& shapes, plan::PlanConfig& config) {
  GDNPLAN_ASSIGN_OR_RETURN(config.num_speculative_tokens,
                           Common(shapes, "k", &Shape::num_speculative_tokens, 0));
  GDNPLAN_ASSIGN_OR_RETURN(const int32_t groups, Common(shapes, "groups", &Shape::groups, 1));
  plan::GroupConfig group;
  GDNPLAN_ASSIGN_OR_RETURN(group.mamba_cache_mode, Common(shapes, "mode", &Shape::mamba_cache_mode,
                                                          plan::MambaCacheMode::kNone));
  GDNPLAN_ASSIGN_OR_RETURN(group.block_size,
                           Common(shapes, "block_size", &Shape::block_size, kUsualBlockSize));
  config.groups.assign(static_cast<size_t>(groups), group);
  return absl::OkStatus();
}

absl::Status SetLimits(const std::vector<Shape>& shapes, const UsualSize& usual,
                       plan::PlanConfig& config) {
  const int32_t drafts = config.num_speculative_tokens;
  int64_t rows = usual.max_num_seqs;
  int64_t tokens = usual.max_num_batched_tokens;
  for (const Shape& shape : shapes) {
    rows = std::max<int64_t>(rows, shape.num_rows());
    tokens = std::max(tokens, ActualTokensOf(shape, drafts));
  }
  if (config.max_num_seqs == 0) {
    config.max_num_seqs = static_cast<int32_t>(std::min<int64_t>(rows, plan::kMaxNumSeqs));
  }
  if (config.max_num_batched_tokens == 0) {
    config.max_num_batched_tokens =
        static_cast<int32_t>(std::min<int64_t>(tokens, plan::kMaxNumBatchedTokens));
  }
  for (const Shape& shape : shapes) {
    if (shape.spec_rows > 0 && drafts == 0) {
      return Refuse(shape, "has speculative rows and no draft tokens; give k, such as k=3");
    }
    GDNPLAN_RETURN_IF_ERROR(
        CheckLimit(shape, "rows", shape.num_rows(), "max_num_seqs", config.max_num_seqs));
    GDNPLAN_RETURN_IF_ERROR(CheckLimit(shape, "tokens", ActualTokensOf(shape, drafts),
                                       "max_num_batched_tokens", config.max_num_batched_tokens));
  }
  return plan::ValidateConfig(config);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ShapeSource>> ShapeSource::Create(const ShapeOptions& options) {
  if (options.shapes.empty()) {
    return plan::InvalidField("shapes", "there must be at least one, such as decode=256");
  }
  plan::PlanConfig config;
  config.max_num_seqs = options.max_num_seqs;
  config.max_num_batched_tokens = options.max_num_batched_tokens;
  config.use_full_cuda_graph = options.use_full_cuda_graph;
  config.max_cudagraph_capture_size = options.max_cudagraph_capture_size;
  config.prefill_backend = options.prefill_backend;
  config.chunk_size = options.chunk_size;
  GDNPLAN_RETURN_IF_ERROR(SetSession(options.shapes, config));
  GDNPLAN_RETURN_IF_ERROR(SetLimits(options.shapes, options.usual, config));
  return std::unique_ptr<ShapeSource>(new ShapeSource(options, std::move(config)));
}

ShapeSource::ShapeSource(const ShapeOptions& options, plan::PlanConfig config)
    : shapes_(options.shapes), config_(std::move(config)), random_(options.seed) {}

bool ShapeSource::Next(Step& step) {
  const Shape& shape = shapes_[shape_];
  json::OwnedBatch& batch = step.batch;
  batch.kind = plan::BatchKind::kStep;
  batch.query_start_loc.assign(1, 0);
  batch.seq_lens.clear();
  batch.is_prefilling.clear();
  batch.num_decode_draft_tokens.clear();
  batch.num_accepted_tokens.clear();
  AddRows(shape.spec_rows, config_.state_columns(), true, false, batch);
  AddRows(shape.decodes, 1, false, false, batch);
  AddRows(shape.prefills, shape.prefill_tokens, false, true, batch);
  AddRows(shape.padded, 0, false, false, batch);
  batch.num_actual_tokens =
      static_cast<int32_t>(ActualTokensOf(shape, config_.num_speculative_tokens));
  batch.block_tables.resize(config_.groups.size());
  for (size_t g = 0; g < config_.groups.size(); ++g) {
    FillTable(config_.groups[g], batch, batch.block_tables[g]);
  }
  step.due_s = 0;

  if (++steps_of_shape_ == shape.weight) {
    steps_of_shape_ = 0;
    shape_ = (shape_ + 1) % shapes_.size();
  }
  return true;
}

uint64_t ShapeSource::max_batch_bytes() const {
  uint64_t most = 0;
  for (const Shape& shape : shapes_) {
    const auto rows = static_cast<uint64_t>(shape.num_rows());
    const uint64_t of_drafts = config_.num_speculative_tokens > 0 ? 2 : 0;
    uint64_t elements = 1 + rows * (2 + of_drafts);
    // Of a table's columns those are certain which hold states.
    elements += rows * static_cast<uint64_t>(config_.state_columns()) * config_.groups.size();
    most = std::max(most, elements * sizeof(int32_t) + rows);
  }
  return most;
}

void ShapeSource::AddRows(int32_t rows, int32_t len, bool speculative, bool prefilling,
                          json::OwnedBatch& batch) {
  const int32_t drafts = config_.num_speculative_tokens;
  for (int32_t i = 0; i < rows; ++i) {
    const bool begun = len > 0 && !prefilling;
    batch.query_start_loc.push_back(batch.query_start_loc.back() + len);
    batch.seq_lens.push_back(len + (begun ? random_.Between(kMinContext, kMaxContext) : 0));
    batch.is_prefilling.push_back(prefilling ? 1 : 0);
    if (drafts == 0) continue;
    batch.num_decode_draft_tokens.push_back(speculative ? drafts : -1);
    batch.num_accepted_tokens.push_back(speculative ? random_.Between(1, drafts + 1)
                                                    : plan::kPaddedAcceptedTokens);
  }
}

// Padded rows have ids as well: what was there before.
void ShapeSource::FillTable(const plan::GroupConfig& group, json::OwnedBatch& batch,
                            json::OwnedBlockTable& table) {
  int32_t first_columns = 0;
  if (group.mamba_cache_mode != plan::MambaCacheMode::kNone) {
    const int32_t longest = *std::max_element(batch.seq_lens.begin(), batch.seq_lens.end());
    first_columns = plan::FirstStateColumn(longest, group.block_size);
  }
  table.width = first_columns + config_.state_columns();
  table.block_ids.resize(batch.seq_lens.size() * static_cast<size_t>(table.width));
  for (int32_t& id : table.block_ids) id = random_.Between(1, kMaxBlockId);
}

}  // namespace gdnplan::load
