// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A batch file: {"config": {...}, "batch": {...}, "op": "build" | "build_for_cudagraph_capture"}.
//
// config: max_num_seqs; optional: max_num_batched_tokens (default: the batch's token count),
//   num_speculative_tokens (0), use_full_cuda_graph (false), max_cudagraph_capture_size,
//   prefill_backend ("triton"), chunk_size (64), and the groups: mamba_cache_mode ("none") and
//   block_size (0) for all of them, or `groups`, a list of {name, mamba_cache_mode, block_size}.
// batch: query_start_loc, seq_lens, block_tables (a list of rows per group); optional:
//   is_prefilling, num_decode_draft_tokens, num_accepted_tokens, num_actual_tokens.
// An optional member may be null. Other members of the document are not looked at.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::json {

struct BatchDocument {
  plan::PlanConfig config;
  OwnedBatch batch;
};

// InvalidArgument naming the JSON path of what has the wrong type, does not fit an int32, is
// missing or is unknown ("batch.seq_lens[3]: must be an int32 (got \"x\")"). Neither the
// configuration nor the batch is validated beyond that.
absl::StatusOr<BatchDocument> ReadBatch(const nlohmann::json& document);
absl::StatusOr<BatchDocument> ParseBatch(std::string_view text);

// A list of rows of one length.
absl::StatusOr<OwnedBlockTable> ReadBlockTable(const nlohmann::json& value, std::string_view path);

}  // namespace gdnplan::json
