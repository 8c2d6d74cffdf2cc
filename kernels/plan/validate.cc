// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/validate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/plan_math.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::plan {
namespace {

absl::Status CheckLength(std::string_view field, size_t got, size_t want, std::string_view why) {
  if (got == want) return absl::OkStatus();
  return InvalidField(
      field, absl::StrCat("must have ", want, " elements, ", ToAbsl(why), " (got ", got, ")"));
}

bool NoneNegative(std::span<const int32_t> values) {
  int32_t signs = 0;
  for (const int32_t value : values) signs |= value;
  return signs >= 0;
}

absl::Status CheckShapes(const PlanConfig& config, const BatchView& batch) {
  const size_t rows = batch.seq_lens.size();
  if (rows == 0)
    return InvalidField("seq_lens", "the batch is empty; a batch has at least one row");
  if (rows > static_cast<size_t>(config.max_num_seqs)) {
    return InvalidField("seq_lens", absl::StrCat("the batch has ", rows,
                                                 " rows, over max_num_seqs ", config.max_num_seqs));
  }
  GDNPLAN_RETURN_IF_ERROR(CheckLength("query_start_loc", batch.query_start_loc.size(), rows + 1,
                                      "one more than seq_lens"));
  if (!batch.is_prefilling.empty()) {
    GDNPLAN_RETURN_IF_ERROR(
        CheckLength("is_prefilling", batch.is_prefilling.size(), rows, "one per row"));
  }
  if (!batch.num_decode_draft_tokens.empty()) {
    GDNPLAN_RETURN_IF_ERROR(CheckLength("num_decode_draft_tokens",
                                        batch.num_decode_draft_tokens.size(), rows, "one per row"));
  }
  if (!batch.num_accepted_tokens.empty()) {
    GDNPLAN_RETURN_IF_ERROR(
        CheckLength("num_accepted_tokens", batch.num_accepted_tokens.size(), rows, "one per row"));
  }
  return CheckLength("block_tables", batch.block_tables.size(), config.groups.size(),
                     "one per KV-cache group");
}

absl::Status CheckRows(const PlanConfig& config, const BatchView& batch) {
  const auto qsl = batch.query_start_loc;
  if (qsl[0] != 0) {
    return InvalidElement("query_start_loc", 0, absl::StrCat("must be 0 (got ", qsl[0], ")"));
  }
  for (size_t i = 0; i < batch.seq_lens.size(); ++i) {
    if (qsl[i + 1] < qsl[i]) {
      return InvalidElement(
          "query_start_loc", static_cast<int64_t>(i) + 1,
          absl::StrCat("must not decrease (got ", qsl[i + 1], " after ", qsl[i], ")"));
    }
    // qsl[i + 1] >= qsl[i] >= 0, so the difference cannot overflow.
    const int32_t len = qsl[i + 1] - qsl[i];
    if (batch.seq_lens[i] < len) {
      return InvalidElement("seq_lens", static_cast<int64_t>(i),
                            absl::StrCat("must be at least the row's query length ", len, " (got ",
                                         batch.seq_lens[i], ")"));
    }
  }
  const int32_t tokens = qsl.back();
  if (tokens > config.max_num_batched_tokens) {
    return InvalidElement(
        "query_start_loc", batch.num_rows(),
        absl::StrCat("the batch has ", tokens, " tokens, over max_num_batched_tokens ",
                     config.max_num_batched_tokens));
  }
  if (batch.num_actual_tokens.has_value()) {
    const int32_t actual = *batch.num_actual_tokens;
    if (actual < tokens) {
      return InvalidField("num_actual_tokens",
                          absl::StrCat("must be at least query_start_loc[", batch.num_rows(),
                                       "] = ", tokens, " (got ", actual, ")"));
    }
    if (actual > config.max_num_batched_tokens) {
      return InvalidField("num_actual_tokens",
                          absl::StrCat("must be at most max_num_batched_tokens ",
                                       config.max_num_batched_tokens, " (got ", actual, ")"));
    }
  }
  for (size_t i = 0; i < batch.is_prefilling.size(); ++i) {
    if (batch.is_prefilling[i] > 1) {
      return InvalidElement("is_prefilling", static_cast<int64_t>(i),
                            absl::StrCat("must be 0 or 1 (got ", batch.is_prefilling[i], ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSpeculation(const PlanConfig& config, const BatchView& batch) {
  if (batch.num_decode_draft_tokens.empty()) return absl::OkStatus();
  const int32_t k = config.num_speculative_tokens;
  if (k == 0) {
    return InvalidField("num_decode_draft_tokens",
                        "must be absent, since the session's num_speculative_tokens is 0");
  }
  if (batch.num_accepted_tokens.empty()) {
    return InvalidField("num_accepted_tokens",
                        "must be given where num_decode_draft_tokens is (got none)");
  }
  for (size_t i = 0; i < batch.seq_lens.size(); ++i) {
    const int32_t len = batch.query_start_loc[i + 1] - batch.query_start_loc[i];
    const int32_t drafts = batch.num_decode_draft_tokens[i];
    if (!IsSpeculative(drafts, len)) continue;
    const auto row = static_cast<int64_t>(i);
    if (drafts > k) {
      return InvalidElement(
          "num_decode_draft_tokens", row,
          absl::StrCat("must be at most num_speculative_tokens ", k, " (got ", drafts, ")"));
    }
    if (drafts != len - 1) {
      return InvalidElement("num_decode_draft_tokens", row,
                            absl::StrCat("must be the row's query length less 1, ", len - 1,
                                         ", or -1 (got ", drafts, ")"));
    }
    const int32_t accepted = batch.num_accepted_tokens[i];
    if (accepted < 1 || accepted > k + 1) {
      return InvalidElement("num_accepted_tokens", row,
                            absl::StrCat("must be in 1..", k + 1, " (got ", accepted, ")"));
    }
  }
  return absl::OkStatus();
}

// The drafts of a capture batch follow from its rows, and so do the accepted tokens; what the
// caller sent is not read.
absl::Status CheckCapture(const PlanConfig& config, const BatchView& batch) {
  const int32_t limit = config.capture_limit();
  const int32_t tokens = batch.query_start_loc.back();
  const int32_t actual = batch.num_actual_tokens.value_or(tokens);
  if (batch.num_rows() > limit) {
    return InvalidField("seq_lens", absl::StrCat("a capture batch has at most capture_limit ",
                                                 limit, " rows (got ", batch.num_rows(), ")"));
  }
  if (actual > limit) {
    const std::string_view field =
        batch.num_actual_tokens.has_value() ? "num_actual_tokens" : "query_start_loc";
    return InvalidField(field, absl::StrCat("a capture batch has at most capture_limit ", limit,
                                            " tokens (got ", actual, ")"));
  }
  if (config.num_speculative_tokens == 0) return absl::OkStatus();
  for (size_t i = 0; i < batch.seq_lens.size(); ++i) {
    const int32_t len = batch.query_start_loc[i + 1] - batch.query_start_loc[i];
    if (len > config.num_speculative_tokens + 1) {
      return InvalidElement(
          "query_start_loc", static_cast<int64_t>(i) + 1,
          absl::StrCat("a row of a capture batch has at most ", "num_speculative_tokens + 1 = ",
                       config.num_speculative_tokens + 1, " tokens (got ", len, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string TableField::Path(std::string_view member) const {
  if (index < 0) return absl::StrCat(ToAbsl(name), ".", ToAbsl(member));
  return absl::StrCat(ToAbsl(name), "[", index, "].", ToAbsl(member));
}

absl::Status ValidateBlockTable(const PlanConfig& config, int32_t group,
                                std::span<const int32_t> query_start_loc,
                                std::span<const int32_t> seq_lens, const BlockTableView& table,
                                TableField field) {
  const GroupConfig& group_config = config.groups[static_cast<size_t>(group)];
  const int32_t columns = config.state_columns();
  if (table.width < columns) {
    return InvalidField(field.Path("width"),
                        absl::StrCat("must be at least 1 + num_speculative_tokens = ", columns,
                                     " (got ", table.width, ")"));
  }
  const size_t rows = seq_lens.size();
  const auto width = static_cast<size_t>(table.width);
  if (table.block_ids.size() != rows * width) {
    return InvalidField(field.Path("block_ids"),
                        absl::StrCat("must have ", rows, " rows of width ", width, ", ",
                                     rows * width, " elements (got ", table.block_ids.size(), ")"));
  }
  const int32_t align =
      group_config.mamba_cache_mode == MambaCacheMode::kAlign ? group_config.block_size : 0;
  // Nearly every table is fine throughout, which is quick to see; rows are looked at one by one
  // only where a negative id could be in a part that is not read.
  if (align == 0 && table.width == columns && NoneNegative(table.block_ids)) {
    return absl::OkStatus();
  }
  for (size_t i = 0; i < rows; ++i) {
    if (query_start_loc[i + 1] == query_start_loc[i]) continue;
    const int32_t first = FirstStateColumn(seq_lens[i], align);
    if (first > table.width - columns) {
      return InvalidElement(
          field.Path("block_ids"), static_cast<int64_t>(i * width),
          absl::StrCat("row ", i, " of ", seq_lens[i], " tokens needs columns ", first, "..",
                       int64_t{first} + columns - 1, " of a table of width ", table.width));
    }
    const size_t begin = i * width + static_cast<size_t>(first);
    const auto states = table.block_ids.subspan(begin, static_cast<size_t>(columns));
    if (NoneNegative(states)) continue;
    const auto bad = std::find_if(states.begin(), states.end(), [](int32_t id) { return id < 0; });
    return InvalidElement(field.Path("block_ids"),
                          static_cast<int64_t>(begin) + (bad - states.begin()),
                          absl::StrCat("a block id must not be negative (got ", *bad, ")"));
  }
  return absl::OkStatus();
}

absl::Status ValidateBatch(const PlanConfig& config, const BatchView& batch) {
  GDNPLAN_RETURN_IF_ERROR(CheckShapes(config, batch));
  GDNPLAN_RETURN_IF_ERROR(CheckRows(config, batch));
  if (batch.kind == BatchKind::kCudagraphCapture) {
    GDNPLAN_RETURN_IF_ERROR(CheckCapture(config, batch));
  } else {
    GDNPLAN_RETURN_IF_ERROR(CheckSpeculation(config, batch));
  }
  for (size_t g = 0; g < batch.block_tables.size(); ++g) {
    const auto group = static_cast<int32_t>(g);
    GDNPLAN_RETURN_IF_ERROR(ValidateBlockTable(config, group, batch.query_start_loc, batch.seq_lens,
                                               batch.block_tables[g], {"block_tables", group}));
  }
  return absl::OkStatus();
}

}  // namespace gdnplan::plan
