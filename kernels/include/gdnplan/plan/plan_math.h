// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a plan on plain integers. The same functions run on the host and in kernels.
#pragma once

#include <cstdint>

#include "gdnplan/plan/host_device.h"

namespace gdnplan::plan {

// ceil(a / b) for b > 0, of any sign of a.
GDNPLAN_HD constexpr int32_t CeilDiv(int32_t a, int32_t b) noexcept {
  return a / b + (a % b > 0 ? 1 : 0);
}

GDNPLAN_HD constexpr int64_t AlignUp(int64_t value, int64_t alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}

// Whether a row of query length `len` with that many drafts is a speculative one.
GDNPLAN_HD constexpr bool IsSpeculative(int32_t draft_tokens, int32_t len) noexcept {
  return draft_tokens >= 0 && len > 0;
}

// Column of a block table where the row's states begin. align_block_size 0: no gather.
GDNPLAN_HD constexpr int32_t FirstStateColumn(int32_t seq_len, int32_t align_block_size) noexcept {
  return align_block_size == 0 || seq_len < 1 ? 0 : (seq_len - 1) / align_block_size;
}

// Whether a row computed tokens before this step.
GDNPLAN_HD constexpr bool HasInitialState(int32_t seq_len, int32_t len) noexcept {
  return seq_len > len;
}

// Rows of chunk_indices with the cutedsl backend: a bound that needs the sums alone.
GDNPLAN_HD constexpr int32_t CutedslChunkRows(int32_t rows, int32_t tokens,
                                              int32_t chunk_size) noexcept {
  return rows - 1 + CeilDiv(tokens - (rows - 1), chunk_size);
}

// Last index i in [0, rows) with offsets[i] <= value, where offsets is a running sum [rows + 1]
// that starts at 0 and value is below offsets[rows]: the segment that element `value` lies in
// (empty segments are skipped).
GDNPLAN_HD constexpr int32_t FindSegment(const int32_t* offsets, int32_t rows,
                                         int32_t value) noexcept {
  int32_t low = 0;
  int32_t high = rows;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (offsets[middle] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace gdnplan::plan
