// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's configuration: the limits that every batch obeys and that size the buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace gdnplan::plan {

// How a KV-cache group's block table names the states of a row.
enum class MambaCacheMode : uint8_t {
  kNone,   // the table is [rows, 1 + K]: the row's states
  kAll,    // the table is wider and used from its first column
  kAlign,  // the states start at the column of the row's last token's block
};

// Which kernels read the prefill metadata; it decides how many rows chunk_indices has.
enum class PrefillBackend : uint8_t { kTriton, kFlashinfer, kCutedsl };

struct GroupConfig {
  std::string name;  // for people and metrics; may be empty
  MambaCacheMode mamba_cache_mode = MambaCacheMode::kNone;
  int32_t block_size = 0;  // tokens per state block; read by kAlign alone, > 0 there
};

struct PlanConfig {
  int32_t max_num_seqs = 0;            // rows of a batch at most, padded rows counted
  int32_t max_num_batched_tokens = 0;  // query tokens of a batch at most, padding counted
  int32_t num_speculative_tokens = 0;  // K; 0: no speculative decoding
  bool use_full_cuda_graph = false;    // stage decode-only batches
  std::optional<int32_t> max_cudagraph_capture_size;
  PrefillBackend prefill_backend = PrefillBackend::kTriton;
  int32_t chunk_size = 64;  // tokens per chunk, a power of two
  std::vector<GroupConfig> groups;

  int32_t num_groups() const { return static_cast<int32_t>(groups.size()); }
  // Columns of a state tensor: 1 + K.
  int32_t state_columns() const { return num_speculative_tokens + 1; }
  // Rows and tokens for which a full graph can have been captured.
  int32_t capture_limit() const;
};

// InvalidArgument naming the first field that is out of range.
absl::Status ValidateConfig(const PlanConfig& config);

}  // namespace gdnplan::plan
