// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/arena.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <limits>
#include <string>

#include "gdnplan/plan/constants.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using test::IsOk;
using test::StatusIs;

PlanConfig ArenaConfig() {
  PlanConfig config;
  config.max_num_seqs = 16;
  config.max_num_batched_tokens = 512;
  config.num_speculative_tokens = 2;
  config.groups.resize(3);
  return config;
}

// Other processes, built at other times, read this.
TEST(ArenaTest, HeaderAndTimelineHaveTheirPlaces) {
  EXPECT_EQ(offsetof(ArenaHeader, magic), 0u);
  EXPECT_EQ(offsetof(ArenaHeader, layout_version), 8u);
  EXPECT_EQ(offsetof(ArenaHeader, num_slots), 12u);
  EXPECT_EQ(offsetof(ArenaHeader, boot_id), 16u);
  EXPECT_EQ(offsetof(ArenaHeader, generation), 32u);
  EXPECT_EQ(offsetof(ArenaHeader, arena_bytes), 40u);
  EXPECT_EQ(offsetof(ArenaHeader, slots_offset), 48u);
  EXPECT_EQ(offsetof(ArenaHeader, slot_stride), 56u);
  EXPECT_EQ(offsetof(SlotTimeline, ready), 0u);
  EXPECT_EQ(offsetof(SlotTimeline, consumed), 64u);
  EXPECT_GE(ArenaLayout::kTimelineOffset, int64_t{sizeof(ArenaHeader)});
}

TEST(ArenaTest, NumberOfSlots) {
  for (int32_t good : {1, kMaxSlots}) {
    EXPECT_THAT(ArenaLayout::Create(ArenaConfig(), good), IsOk());
  }
  using Limits = std::numeric_limits<int32_t>;
  for (int32_t bad : {0, -1, kMaxSlots + 1, Limits::min(), Limits::max()}) {
    EXPECT_THAT(ArenaLayout::Create(ArenaConfig(), bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "num_slots: must be in 1..64 (got " + std::to_string(bad) + ")"));
  }
}

TEST(ArenaTest, PartsFollowOneAnother) {
  for (int32_t num_slots : {1, 2, 31, 32, kMaxSlots}) {
    const auto layout = ArenaLayout::Create(ArenaConfig(), num_slots);
    ASSERT_THAT(layout, IsOk());
    EXPECT_EQ(layout->num_slots, num_slots);
    int64_t end = ArenaLayout::kTimelineOffset;
    for (int32_t i = 0; i < num_slots; ++i) {
      EXPECT_EQ(layout->ready_offset(i), end);
      EXPECT_EQ(layout->consumed_offset(i), end + 64);
      end += int64_t{sizeof(SlotTimeline)};
    }
    for (int32_t i = 0; i < num_slots; ++i) {
      EXPECT_GE(layout->slot_offset(i), end);
      EXPECT_EQ(layout->slot_offset(i) % 4096, 0);
      end = layout->slot_offset(i) + layout->slot.slot_bytes;
    }
    EXPECT_GE(layout->arena_bytes, end);
    EXPECT_LT(layout->arena_bytes, end + kArenaGranule + 4096);
    EXPECT_EQ(layout->arena_bytes % kArenaGranule, 0);
  }
}

TEST(ArenaTest, LargestArenaDoesNotOverflow) {
  PlanConfig config;
  config.max_num_seqs = kMaxNumSeqs;
  config.max_num_batched_tokens = kMaxNumBatchedTokens;
  config.num_speculative_tokens = kMaxSpeculativeTokens;
  config.chunk_size = 1;
  config.groups.resize(kMaxGroups);
  const auto layout = ArenaLayout::Create(config, kMaxSlots);
  ASSERT_THAT(layout, IsOk());
  EXPECT_GT(layout->slot_offset(kMaxSlots - 1), layout->slot_stride * (kMaxSlots - 1));
  EXPECT_GT(layout->arena_bytes, layout->slot_offset(kMaxSlots - 1));
}

}  // namespace
}  // namespace gdnplan::plan
