// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/tensor_table.h"

#include <algorithm>

#include "gdnplan/plan/constants.h"

namespace gdnplan::plan {
namespace {

int64_t Seqs(const PlanConfig& c) { return c.max_num_seqs; }
int64_t SeqsPlusOne(const PlanConfig& c) { return Seqs(c) + 1; }
int64_t Tokens(const PlanConfig& c) { return c.max_num_batched_tokens; }
int64_t SpecTokens(const PlanConfig& c) { return std::min(Tokens(c), Seqs(c) * c.state_columns()); }
int64_t States(const PlanConfig& c) { return Seqs(c) * c.state_columns(); }

// Segments of `size` tokens that rows can need: each row of n tokens has ceil(n / size) <= n / size
// + 1, and no more segments than tokens.
int64_t Segments(const PlanConfig& c, int64_t size) {
  return std::min(Tokens(c), Tokens(c) / size + Seqs(c));
}

int64_t ChunkIndices(const PlanConfig& c) {
  // The bound of cutedsl counts padded rows too: rows - 1 + ceil((tokens - (rows - 1)) / chunk).
  const int64_t rows = c.prefill_backend == PrefillBackend::kCutedsl
                           ? Seqs(c) + Tokens(c) / c.chunk_size + 1
                           : Segments(c, c.chunk_size);
  return rows * 2;
}

int64_t ConvPrograms(const PlanConfig& c) {
  return std::max<int64_t>(kMinConvPrograms, Segments(c, kConvBlockM)) * 2;
}

constexpr DType kI32 = DType::kInt32;
constexpr DType kU8 = DType::kUInt8;

constexpr std::array<TensorSpec, kNumTensors> kTable = {{
    {TensorId::kNonSpecQueryStartLoc, "non_spec_query_start_loc", "[non_spec_rows + 1]", kI32,
     false, 1, false, SeqsPlusOne},
    {TensorId::kNonSpecStateIndices, "non_spec_state_indices", "[non_spec_rows]", kI32, true, 1,
     false, Seqs},
    {TensorId::kSpecQueryStartLoc, "spec_query_start_loc", "[spec_rows + 1]", kI32, false, 1, false,
     SeqsPlusOne},
    {TensorId::kNumAcceptedTokens, "num_accepted_tokens", "[spec_rows]", kI32, false, 1, false,
     Seqs},
    {TensorId::kSpecSequenceMasks, "spec_sequence_masks", "[rows]", kU8, false, 1, false, Seqs},
    {TensorId::kSpecStateIndices, "spec_state_indices", "[spec_rows, 1 + K]", kI32, true, 2, false,
     States},
    {TensorId::kSpecTokenIndx, "spec_token_indx", "[num_spec_decode_tokens]", kI32, false, 1, false,
     SpecTokens},
    {TensorId::kNonSpecTokenIndx, "non_spec_token_indx", "[non_spec_tokens]", kI32, false, 1, false,
     Tokens},
    {TensorId::kHasInitialState, "has_initial_state", "[non_spec_rows]", kU8, false, 1, false,
     Seqs},
    {TensorId::kPrefillQueryStartLoc, "prefill_query_start_loc", "[prefill_rows + 1]", kI32, false,
     1, false, SeqsPlusOne},
    {TensorId::kPrefillStateIndices, "prefill_state_indices", "[prefill_rows]", kI32, true, 1,
     false, Seqs},
    {TensorId::kPrefillHasInitialState, "prefill_has_initial_state", "[prefill_rows]", kU8, false,
     1, false, Seqs},
    {TensorId::kChunkOffsets, "chunk_offsets", "[prefill_rows + 1]", kI32, false, 1, false,
     SeqsPlusOne},
    {TensorId::kChunkIndices, "chunk_indices", "[chunks, 2]", kI32, false, 2, false, ChunkIndices},
    {TensorId::kNums, "nums", "[non_spec_rows]", kI32, false, 1, false, Seqs},
    {TensorId::kBatchPtr, "batch_ptr", "[max(1024, num_conv_programs) * 2]", kI32, false, 1, true,
     ConvPrograms},
    {TensorId::kTokenChunkOffsetPtr, "token_chunk_offset_ptr", "[max(1024, num_conv_programs) * 2]",
     kI32, false, 1, true, ConvPrograms},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].id) != i) return false;
  }
  return true;
}
static_assert(InOrder(), "the table is indexed by TensorId");

}  // namespace

const std::array<TensorSpec, kNumTensors>& TensorTable() { return kTable; }

std::optional<TensorId> FindTensor(std::string_view name) {
  for (const TensorSpec& spec : kTable) {
    if (spec.name == name) return spec.id;
  }
  return std::nullopt;
}

}  // namespace gdnplan::plan
