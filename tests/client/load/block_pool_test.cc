// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/block_pool.h"

#include <gmock/gmock.h>

#include <set>
#include <utility>
#include <vector>

#include "client/load/random.h"

namespace gdnplan::load {
namespace {

using plan::kNullBlockId;

TEST(BlockPoolTest, GivesOutEachBlockOnce) {
  BlockPool pool(5);
  std::set<int32_t> blocks;
  while (pool.num_free() > 0) blocks.insert(pool.Allocate(7));
  EXPECT_THAT(blocks, ::testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(pool.owner(3), 7);
  pool.Release(3, 7);
  EXPECT_EQ(pool.owner(3), BlockPool::kNobody);
  EXPECT_EQ(pool.num_free(), 1);
  EXPECT_EQ(pool.Allocate(8), 3);
}

TEST(BlockPoolTest, FindsContentsUntilTheBlockIsUsedAgain) {
  BlockPool pool(2);
  const int32_t block = pool.Allocate(0);
  EXPECT_EQ(pool.Find(11), kNullBlockId);
  pool.Cache(block, 11);
  EXPECT_EQ(pool.Find(11), block);
  pool.Release(block, 0);
  EXPECT_EQ(pool.num_free(), 2);
  EXPECT_EQ(pool.Find(11), block);
  // The one without contents goes first.
  EXPECT_NE(pool.Allocate(1), block);
  EXPECT_EQ(pool.Find(11), block);
  EXPECT_EQ(pool.Allocate(1), block);
  EXPECT_EQ(pool.Find(11), kNullBlockId);
  EXPECT_EQ(pool.num_cached(), 0u);
}

TEST(BlockPoolTest, EvictsTheLeastRecentlyUsed) {
  BlockPool pool(3);
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t block = pool.Allocate(i);
    pool.Cache(block, static_cast<uint64_t>(100 + i));
    EXPECT_EQ(block, i + 1);
  }
  for (int32_t i = 0; i < 3; ++i) pool.Release(i + 1, i);
  // Used once more, the oldest is the youngest.
  pool.Share(1);
  pool.Release(1, BlockPool::kNobody);
  EXPECT_EQ(pool.Allocate(0), 2);
  EXPECT_EQ(pool.Allocate(0), 3);
  EXPECT_EQ(pool.Allocate(0), 1);
}

TEST(BlockPoolTest, SharedBlocksStayWhileAnyoneRefersToThem) {
  BlockPool pool(1);
  const int32_t block = pool.Allocate(4);
  pool.Cache(block, 9);
  pool.Share(block);
  EXPECT_EQ(pool.references(block), 2);
  pool.Release(block, 4);
  EXPECT_EQ(pool.owner(block), BlockPool::kNobody);
  EXPECT_EQ(pool.num_free(), 0);
  pool.Release(block, 5);
  EXPECT_EQ(pool.num_free(), 1);
}

TEST(BlockPoolTest, OfEqualContentsTheFirstIsFound) {
  BlockPool pool(2);
  const int32_t first = pool.Allocate(0);
  const int32_t second = pool.Allocate(1);
  pool.Cache(first, 9);
  pool.Cache(second, 9);
  EXPECT_EQ(pool.Find(9), first);
  pool.Release(second, 1);
  // Its contents were not kept.
  EXPECT_EQ(pool.Allocate(2), second);
  EXPECT_EQ(pool.Find(9), first);
}

TEST(BlockPoolTest, CountsStayRightOverRandomUse) {
  Random random(3);
  BlockPool pool(40);
  std::vector<int32_t> held;
  for (int i = 0; i < 100'000; ++i) {
    const auto hash = static_cast<uint64_t>(random.Between(1, 60));
    if (const int32_t found = pool.Find(hash); found != kNullBlockId && random.Chance(0.3)) {
      pool.Share(found);
      held.push_back(found);
    } else if (pool.num_free() > 0 && random.Chance(0.5)) {
      held.push_back(pool.Allocate(0));
      if (random.Chance(0.5)) pool.Cache(held.back(), hash);
    } else if (!held.empty()) {
      std::swap(held[static_cast<size_t>(random.Between(0, static_cast<int32_t>(held.size()) - 1))],
                held.back());
      pool.Release(held.back(), 0);
      held.pop_back();
    }
    if (i % 100 != 0) continue;
    const std::multiset<int32_t> references(held.begin(), held.end());
    int32_t free = 0;
    for (int32_t block = 1; block <= 40; ++block) {
      ASSERT_EQ(pool.references(block), static_cast<int32_t>(references.count(block)));
      if (references.count(block) == 0) ++free;
    }
    ASSERT_EQ(pool.num_free(), free);
  }
}

}  // namespace
}  // namespace gdnplan::load
