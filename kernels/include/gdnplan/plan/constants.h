// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Numbers that the Gated DeltaNet kernels and this library agree on.
#pragma once

#include <cstdint>

namespace gdnplan::plan {

// State index of a row that must not touch any state.
inline constexpr int32_t kNullBlockId = 0;
// Entry of batch_ptr and token_chunk_offset_ptr that no conv program uses.
inline constexpr int32_t kPadSlotId = -1;
// Rows that one causal-conv program handles.
inline constexpr int32_t kConvBlockM = 8;
// batch_ptr holds at least this many programs, twice over.
inline constexpr int32_t kMinConvPrograms = 1024;
// num_accepted_tokens of a padded row.
inline constexpr int32_t kPaddedAcceptedTokens = 1;

// What a configuration may ask for at most. They keep every product of two of them inside 64 bits
// and every element count inside 32 bits.
inline constexpr int32_t kMaxNumSeqs = 65'536;
inline constexpr int32_t kMaxNumBatchedTokens = 16'777'216;
inline constexpr int32_t kMaxSpeculativeTokens = 64;
inline constexpr int32_t kMaxChunkSize = 4'096;
inline constexpr int32_t kMaxGroups = 256;
inline constexpr int32_t kMaxSlots = 64;

}  // namespace gdnplan::plan
