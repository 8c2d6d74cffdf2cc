// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a fill writes is compared with the reference elsewhere; here, what it leaves alone.
#include "gdnplan/plan/host_fill.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "gdnplan/plan/constants.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::OwnedBatch;
using test::IsOk;
using test::PlannedSlot;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::byte kPoison{0xA5};

std::vector<std::byte> Bytes(const PlannedSlot& slot) {
  return {slot.slot().begin(), slot.slot().end()};
}

// Marks the bytes of one tensor, of one group or of all.
void Mark(const PlannedSlot& slot, TensorId id, int32_t group, std::vector<bool>& marks) {
  if (!slot.layout()[id].present) return;
  const auto bytes = test::TensorBytes(slot.layout(), slot.slot(), id, group);
  const auto begin = static_cast<size_t>(bytes.data() - slot.slot().data());
  for (size_t i = 0; i < bytes.size(); ++i) marks[begin + i] = true;
}

// A prefill of that many tokens, behind nothing.
OwnedBatch PrefillOf(int32_t tokens) {
  OwnedBatch batch;
  batch.query_start_loc = {0, tokens};
  batch.seq_lens = {tokens};
  batch.block_tables = {{{1, 2, 3}, 3}, {std::vector<int32_t>(1003, 4), 1003}};
  return batch;
}

PlanConfig LongConfig() {
  PlanConfig config = test::SampleConfig();
  config.max_num_batched_tokens = 16'000;
  return config;
}

TEST(FillSlotTest, WritesOnlyTensorsInThePackedPart) {
  PlannedSlot slot(test::SampleConfig());
  for (const OwnedBatch& batch : {test::SampleBatch(), test::SampleDecodes()}) {
    ASSERT_THAT(slot.Plan(batch.view(), kPoison), IsOk());
    std::vector<bool> marks(slot.slot().size());
    for (const TensorSpec& spec : TensorTable()) {
      for (int32_t group = 0; group < (spec.per_group ? 2 : 1); ++group) {
        Mark(slot, spec.id, group, marks);
      }
    }
    const auto packed = static_cast<size_t>(slot.planner().slot_layout().packed_capacity);
    for (size_t i = 0; i < packed; ++i) {
      ASSERT_TRUE(marks[i] || slot.slot()[i] == kPoison) << "byte " << i;
    }
  }
}

// batch_ptr's tail must be padding after a longer plan was there, also behind its own shape.
TEST(FillSlotTest, ConvTailIsClearedAsFarAsItWasUsed) {
  PlannedSlot slot(LongConfig());
  const SlotLayout& room = slot.planner().slot_layout();
  for (int32_t tokens : {16, 16'000, 8, 12'000, 15'000, 1}) {
    const OwnedBatch batch = PrefillOf(std::max(tokens, 2));
    ASSERT_THAT(slot.Plan(batch.view()), IsOk());
    const auto programs = slot.counts().num_conv_programs;
    const auto* arrays = reinterpret_cast<const int32_t*>(slot.slot().data());
    for (int64_t offset : {room.batch_ptr_offset, room.token_chunk_offset_ptr_offset}) {
      const int32_t* begin = arrays + offset / 4;
      const std::vector<int32_t> tail(begin + programs, begin + room.conv_capacity);
      EXPECT_THAT(tail, Each(kPadSlotId)) << tokens << " tokens";
    }
  }
}

// A plan without prefills does not touch the conv arrays, and the next one still knows their reach.
TEST(FillSlotTest, ConvReachOutlivesPlansWithoutPrefills) {
  PlannedSlot slot(LongConfig());
  const OwnedBatch longer = PrefillOf(800);
  const OwnedBatch decodes = test::SampleDecodes();
  const OwnedBatch shorter = PrefillOf(8);
  ASSERT_THAT(slot.Plan(longer.view()), IsOk());
  ASSERT_THAT(slot.Plan(decodes.view()), IsOk());
  ASSERT_THAT(slot.Plan(shorter.view()), IsOk());
  std::vector<int32_t> want(2048, kPadSlotId);
  want[0] = 0;
  EXPECT_EQ(slot.Read(TensorId::kBatchPtr)->data, want);
  EXPECT_EQ(slot.Read(TensorId::kTokenChunkOffsetPtr)->data, want);
}

TEST(FillGroupStatesTest, WritesOneGroupOnly) {
  PlannedSlot slot(test::SampleConfig());
  const OwnedBatch batch = test::SampleBatch();
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  const std::vector<std::byte> before = Bytes(slot);
  const json::OwnedBlockTable table = {{50, 51, 52, 53, 54, 55, 56, 57, 58, -1, -1, -1}, 3};
  ASSERT_THAT(slot.Regather(0, table.view()), IsOk());
  std::vector<bool> marks(before.size());
  for (const TensorSpec& spec : TensorTable()) {
    if (spec.per_group) Mark(slot, spec.id, 0, marks);
  }
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_TRUE(marks[i] || slot.slot()[i] == before[i]) << "byte " << i;
  }
  EXPECT_THAT(slot.Read(TensorId::kSpecStateIndices, 0)->data, ElementsAre(50, 51, 52));
  EXPECT_THAT(slot.Read(TensorId::kNonSpecStateIndices, 0)->data, ElementsAre(53, 56, 0));
  EXPECT_THAT(slot.Read(TensorId::kPrefillStateIndices, 0)->data, ElementsAre(53, 56, 0));
  EXPECT_THAT(slot.Read(TensorId::kSpecStateIndices, 1)->data, ElementsAre(60, 61, 62));
}

TEST(InitializeSlotTest, PadsTheConvArraysAlone) {
  const SlotLayout layout(test::SampleConfig());
  std::vector<int32_t> slot(static_cast<size_t>(layout.slot_bytes / 4), 7);
  InitializeSlot(layout, reinterpret_cast<std::byte*>(slot.data()));
  const auto packed = static_cast<size_t>(layout.packed_capacity / 4);
  for (size_t i = 0; i < slot.size(); ++i) ASSERT_EQ(slot[i], i < packed ? 7 : kPadSlotId);
}

}  // namespace
}  // namespace gdnplan::plan
