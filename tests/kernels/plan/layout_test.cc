// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/layout.h"

#include <gmock/gmock.h>

#include "gdnplan/plan/constants.h"

namespace gdnplan::plan {
namespace {

PlanConfig LayoutConfig() {
  PlanConfig config;
  config.max_num_seqs = 5;
  config.max_num_batched_tokens = 100;
  config.num_speculative_tokens = 2;
  config.groups.resize(3);
  return config;
}

TEST(SlotLayoutTest, HoldsEveryTensorAtItsLargest) {
  PlanConfig config = LayoutConfig();
  config.max_num_batched_tokens = 20'000;  // more than the least part
  const SlotLayout layout(config);
  int64_t packed = 0;
  for (const TensorSpec& spec : TensorTable()) {
    if (spec.fixed_place) continue;
    const int64_t bytes = spec.capacity(config) * SizeOf(spec.dtype);
    packed += spec.per_group ? 3 * ((bytes + 15) / 16 * 16) : bytes;
  }
  EXPECT_GT(packed, kMinPackedBytes);
  EXPECT_GE(layout.packed_capacity, packed);
  EXPECT_LT(layout.packed_capacity, packed + kNumTensors * kTensorAlignment);
}

TEST(SlotLayoutTest, HasRoomForATransferByCopyEngine) {
  EXPECT_EQ(SlotLayout(LayoutConfig()).packed_capacity, kMinPackedBytes);
}

TEST(SlotLayoutTest, ConvArraysLieBehindThePackedPart) {
  const SlotLayout layout(LayoutConfig());
  EXPECT_EQ(layout.packed_capacity % kTensorAlignment, 0);
  EXPECT_EQ(layout.batch_ptr_offset, layout.packed_capacity);
  EXPECT_EQ(layout.conv_capacity, 2 * kMinConvPrograms);
  EXPECT_EQ(layout.token_chunk_offset_ptr_offset,
            layout.batch_ptr_offset + layout.conv_capacity * 4);
  EXPECT_EQ(layout.slot_bytes, layout.token_chunk_offset_ptr_offset + layout.conv_capacity * 4);
  EXPECT_EQ(layout.slot_bytes % kTensorAlignment, 0);
}

// Rows of 8n + 1 tokens need the most programs for their tokens.
TEST(SlotLayoutTest, ConvCapacityCountsRaggedRows) {
  PlanConfig config = LayoutConfig();
  config.max_num_seqs = 1000;
  config.max_num_batched_tokens = 9000;
  const int64_t programs_of_rows_of_nine = 2 * 1000;
  EXPECT_GE(SlotLayout(config).conv_capacity, 2 * programs_of_rows_of_nine);
  config.max_num_batched_tokens = 1;
  EXPECT_EQ(SlotLayout(config).conv_capacity, 2 * kMinConvPrograms);
}

TEST(NumElementsTest, CountsByRank) {
  TensorExtent extent;
  extent.dims = {7, 0};
  EXPECT_EQ(NumElements(Spec(TensorId::kNums), extent), 7);
  extent.dims = {7, 3};
  EXPECT_EQ(NumElements(Spec(TensorId::kSpecStateIndices), extent), 21);
  extent.dims = {0, 2};
  EXPECT_EQ(NumElements(Spec(TensorId::kChunkIndices), extent), 0);
  extent.dims = {65'536, 65'536};
  EXPECT_EQ(NumElements(Spec(TensorId::kSpecStateIndices), extent), int64_t{1} << 32);
}

}  // namespace
}  // namespace gdnplan::plan
