// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/config.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::plan {
namespace {

absl::Status CheckRange(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("must be in ", low, "..", high, " (got ", value, ")"));
}

}  // namespace

int32_t PlanConfig::capture_limit() const {
  // At most 65,536 * 65: far inside 32 bits.
  const int32_t by_rows = max_num_seqs * state_columns();
  return std::min(by_rows, max_cudagraph_capture_size.value_or(by_rows));
}

absl::Status ValidateConfig(const PlanConfig& config) {
  GDNPLAN_RETURN_IF_ERROR(CheckRange("max_num_seqs", config.max_num_seqs, 1, kMaxNumSeqs));
  GDNPLAN_RETURN_IF_ERROR(
      CheckRange("max_num_batched_tokens", config.max_num_batched_tokens, 1, kMaxNumBatchedTokens));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("num_speculative_tokens", config.num_speculative_tokens, 0,
                                     kMaxSpeculativeTokens));
  if (config.max_cudagraph_capture_size.has_value()) {
    GDNPLAN_RETURN_IF_ERROR(CheckRange(
        "max_cudagraph_capture_size", *config.max_cudagraph_capture_size, 1, kMaxNumBatchedTokens));
  }
  GDNPLAN_RETURN_IF_ERROR(CheckRange("chunk_size", config.chunk_size, 1, kMaxChunkSize));
  if (!std::has_single_bit(static_cast<uint32_t>(config.chunk_size))) {
    return InvalidField("chunk_size",
                        absl::StrCat("must be a power of two (got ", config.chunk_size, ")"));
  }
  GDNPLAN_RETURN_IF_ERROR(
      CheckRange("groups", static_cast<int64_t>(config.groups.size()), 1, kMaxGroups));
  for (size_t g = 0; g < config.groups.size(); ++g) {
    const GroupConfig& group = config.groups[g];
    if (group.block_size < 0 ||
        (group.mamba_cache_mode == MambaCacheMode::kAlign && group.block_size == 0)) {
      return InvalidField(absl::StrCat("groups[", g, "].block_size"),
                          absl::StrCat("must be at least ",
                                       group.mamba_cache_mode == MambaCacheMode::kAlign ? 1 : 0,
                                       " (got ", group.block_size, ")"));
    }
  }
  return absl::OkStatus();
}

}  // namespace gdnplan::plan
