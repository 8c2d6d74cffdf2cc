// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/scheduler_options.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

using plan::InvalidField;
using plan::MambaCacheMode;

constexpr int32_t kMaxBlocks = 16'777'216;
constexpr int32_t kMaxPrefixFamilies = 1'000'000;

template <typename T>
absl::Status CheckRange(std::string_view field, T value, T low, T high) {
  // A NaN compares as false.
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("must be in ", low, "..", high, " (got ", value, ")"));
}

// How people find it.
std::string Place(size_t index, const Request& request) {
  return request.line > 0 ? absl::StrCat("line ", request.line)
                          : absl::StrCat("requests[", index, "]");
}

// Blocks that a request can hold at once, at most.
int64_t MostBlocks(const SchedulerOptions& options, const Request& request) {
  // The last step computes the last output token but one, and drafts behind it.
  const int64_t tokens =
      int64_t{request.prompt_tokens} + request.output_tokens - 1 + options.num_speculative_tokens;
  const int64_t attention = (tokens + options.block_size - 1) / options.block_size;
  const int64_t states = int64_t{options.groups} * (options.num_speculative_tokens + 1);
  // Where states move on to new blocks, or come from the prefix cache, both are held for a moment.
  const bool moves = options.mamba_cache_mode == MambaCacheMode::kAlign || options.prefix_rate > 0;
  return attention + (moves ? 2 * states : states);
}

}  // namespace

absl::Status ValidateOptions(const SchedulerOptions& options) {
  if (options.mamba_cache_mode != MambaCacheMode::kNone &&
      options.mamba_cache_mode != MambaCacheMode::kAlign) {
    return InvalidField("mamba_cache_mode",
                        "must be none or align for a trace (got all); --shape takes all three");
  }
  GDNPLAN_RETURN_IF_ERROR(CheckRange("block_size", options.block_size, 1, kMaxRequestTokens));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("groups", options.groups, 1, plan::kMaxGroups));
  GDNPLAN_RETURN_IF_ERROR(plan::ValidateConfig(MakeConfig(options)));
  const int32_t decode_tokens = options.max_num_seqs * (options.num_speculative_tokens + 1);
  if (options.max_num_batched_tokens < decode_tokens) {
    return InvalidField(
        "max_num_batched_tokens",
        absl::StrCat("must be at least max_num_seqs * (1 + num_speculative_tokens) = ",
                     decode_tokens, ", so that all requests can decode in one step (got ",
                     options.max_num_batched_tokens, "); raise it or lower max_num_seqs"));
  }
  GDNPLAN_RETURN_IF_ERROR(CheckRange("long_prefill_threshold", options.long_prefill_threshold, 0,
                                     plan::kMaxNumBatchedTokens));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("num_blocks", options.num_blocks, 1, kMaxBlocks));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("acceptance_rate", options.acceptance_rate, 0.0, 1.0));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("prefix_rate", options.prefix_rate, 0.0, 1.0));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("prefix_fraction", options.prefix_fraction, 0.0, 1.0));
  GDNPLAN_RETURN_IF_ERROR(
      CheckRange("prefix_families", options.prefix_families, 1, kMaxPrefixFamilies));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("speed", options.speed, 1e-6, 1e6));
  GDNPLAN_RETURN_IF_ERROR(CheckRange("step_ms", options.step_ms, 0.0, 1e6));
  return CheckRange("step_us_per_token", options.step_us_per_token, 0.0, 1e6);
}

plan::PlanConfig MakeConfig(const SchedulerOptions& options) {
  plan::PlanConfig config;
  config.max_num_seqs = options.max_num_seqs;
  config.max_num_batched_tokens = options.max_num_batched_tokens;
  config.num_speculative_tokens = options.num_speculative_tokens;
  config.use_full_cuda_graph = options.use_full_cuda_graph;
  config.max_cudagraph_capture_size = options.max_cudagraph_capture_size;
  config.prefill_backend = options.prefill_backend;
  config.chunk_size = options.chunk_size;
  const bool align = options.mamba_cache_mode == MambaCacheMode::kAlign;
  config.groups.assign(static_cast<size_t>(options.groups),
                       {.name = {},
                        .mamba_cache_mode = options.mamba_cache_mode,
                        .block_size = align ? options.block_size : 0});
  return config;
}

absl::Status ValidateRequests(const SchedulerOptions& options, std::span<const Request> requests) {
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    GDNPLAN_RETURN_IF_ERROR(CheckRange(Place(i, request) + ".prompt_tokens", request.prompt_tokens,
                                       1, kMaxRequestTokens));
    GDNPLAN_RETURN_IF_ERROR(CheckRange(Place(i, request) + ".output_tokens", request.output_tokens,
                                       1, kMaxRequestTokens));
    const int64_t blocks = MostBlocks(options, request);
    if (blocks <= options.num_blocks) continue;
    return InvalidField(
        Place(i, request),
        absl::StrCat("with ", request.prompt_tokens, " prompt and ", request.output_tokens,
                     " output tokens needs ", blocks, " blocks of block_size ", options.block_size,
                     " and could never run; raise num_blocks (got ", options.num_blocks,
                     ") or block_size"));
  }
  return absl::OkStatus();
}

}  // namespace gdnplan::load
