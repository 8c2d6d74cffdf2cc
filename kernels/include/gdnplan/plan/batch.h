// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One step's input as the caller holds it: views only, nothing is copied or owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gdnplan::plan {

enum class BatchKind : uint8_t {
  kStep,              // a scheduler's step
  kCudagraphCapture,  // the batch that a full CUDA graph is captured with
};

// A group's block table, row-major [num_rows, width].
struct BlockTableView {
  std::span<const int32_t> block_ids;
  int32_t width = 0;
};

// R = seq_lens.size() rows, padded rows counted. An empty optional array is an absent one.
struct BatchView {
  BatchKind kind = BatchKind::kStep;
  std::span<const int32_t> query_start_loc;          // [R + 1]
  std::span<const int32_t> seq_lens;                 // [R] computed + scheduled tokens
  std::span<const uint8_t> is_prefilling;            // [R] or absent; 0 or 1
  std::span<const int32_t> num_decode_draft_tokens;  // [R] or absent; -1: not speculative
  std::span<const int32_t> num_accepted_tokens;      // [R] or absent; read on speculative rows
  std::span<const BlockTableView> block_tables;      // one per group
  std::optional<int32_t> num_actual_tokens;          // absent: query_start_loc[R]

  int32_t num_rows() const { return static_cast<int32_t>(seq_lens.size()); }
};

}  // namespace gdnplan::plan
