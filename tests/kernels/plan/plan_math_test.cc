// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/plan_math.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gdnplan::plan {
namespace {

constexpr int32_t kLargest = std::numeric_limits<int32_t>::max();
constexpr int32_t kSmallest = std::numeric_limits<int32_t>::min();

TEST(PlanMathTest, CeilDivRoundsUpForBothSigns) {
  for (int32_t b : {1, 2, 3, 8, 64}) {
    for (int32_t a = -200; a <= 200; ++a) {
      EXPECT_EQ(CeilDiv(a, b), static_cast<int32_t>(std::ceil(double{1} * a / b)))
          << a << " / " << b;
    }
  }
}

TEST(PlanMathTest, CeilDivOfExtremes) {
  EXPECT_EQ(CeilDiv(kLargest, 1), kLargest);
  EXPECT_EQ(CeilDiv(kLargest, 2), 1 << 30);
  EXPECT_EQ(CeilDiv(kLargest, kLargest), 1);
  EXPECT_EQ(CeilDiv(kSmallest, 1), kSmallest);
  EXPECT_EQ(CeilDiv(kSmallest, kLargest), -1);
  EXPECT_EQ(CeilDiv(1, kLargest), 1);
}

TEST(PlanMathTest, AlignUp) {
  EXPECT_EQ(AlignUp(0, 128), 0);
  EXPECT_EQ(AlignUp(1, 128), 128);
  EXPECT_EQ(AlignUp(128, 128), 128);
  EXPECT_EQ(AlignUp(129, 128), 256);
  EXPECT_EQ(AlignUp(int64_t{1} << 40, 2 << 20), int64_t{1} << 40);
}

TEST(PlanMathTest, IsSpeculativeNeedsDraftsAndTokens) {
  EXPECT_TRUE(IsSpeculative(0, 1));
  EXPECT_TRUE(IsSpeculative(2, 3));
  EXPECT_FALSE(IsSpeculative(-1, 1));
  EXPECT_FALSE(IsSpeculative(kSmallest, 1));
  EXPECT_FALSE(IsSpeculative(2, 0));
}

TEST(PlanMathTest, FirstStateColumn) {
  EXPECT_EQ(FirstStateColumn(1000, 0), 0) << "no gather";
  EXPECT_EQ(FirstStateColumn(0, 16), 0);
  EXPECT_EQ(FirstStateColumn(kSmallest, 16), 0);
  EXPECT_EQ(FirstStateColumn(1, 16), 0);
  EXPECT_EQ(FirstStateColumn(16, 16), 0);
  EXPECT_EQ(FirstStateColumn(17, 16), 1);
  EXPECT_EQ(FirstStateColumn(kLargest, 1), kLargest - 1);
  EXPECT_EQ(FirstStateColumn(kLargest, kLargest), 0);
}

TEST(PlanMathTest, HasInitialState) {
  EXPECT_FALSE(HasInitialState(5, 5));
  EXPECT_TRUE(HasInitialState(6, 5));
  EXPECT_FALSE(HasInitialState(0, 0));
  EXPECT_TRUE(HasInitialState(kLargest, 0));
}

// Whatever the rows' lengths are, their chunks fit the bound.
TEST(PlanMathTest, CutedslChunkRowsIsABound) {
  for (int32_t rows = 1; rows <= 4; ++rows) {
    std::vector<int32_t> lens(static_cast<size_t>(rows), 0);
    for (int32_t code = 0; code < 10'000; ++code) {
      int32_t rest = code;
      int32_t tokens = 0;
      int32_t chunks = 0;
      for (int32_t row = 0; row < rows; ++row, rest /= 10) {
        const int32_t len = rest % 10;
        tokens += len;
        chunks += CeilDiv(len, 4);
      }
      EXPECT_LE(chunks, CutedslChunkRows(rows, tokens, 4)) << rows << " rows, code " << code;
    }
  }
  EXPECT_EQ(CutedslChunkRows(1, 0, 64), 0);
  EXPECT_EQ(CutedslChunkRows(1, 64, 64), 1);
  EXPECT_EQ(CutedslChunkRows(1, 65, 64), 2);
  EXPECT_EQ(CutedslChunkRows(3, 65, 64), 3);
  EXPECT_EQ(CutedslChunkRows(200, 1, 64), 196) << "fewer tokens than rows";
}

// Compared with the plainest search, over every split of a few elements into segments.
TEST(PlanMathTest, FindSegmentSkipsEmptySegments) {
  for (int32_t rows = 1; rows <= 6; ++rows) {
    for (int32_t code = 0; code < 729; ++code) {
      std::vector<int32_t> offsets = {0};
      for (int32_t row = 0, rest = code; row < rows; ++row, rest /= 3) {
        offsets.push_back(offsets.back() + rest % 3);
      }
      for (int32_t value = 0; value < offsets.back(); ++value) {
        int32_t want = 0;
        for (int32_t row = 0; row < rows; ++row) {
          const auto at = static_cast<size_t>(row);
          if (offsets[at] <= value && value < offsets[at + 1]) want = row;
        }
        ASSERT_EQ(FindSegment(offsets.data(), rows, value), want) << "code " << code;
      }
    }
  }
}

TEST(PlanMathTest, FindSegmentOfOneRow) {
  const int32_t offsets[] = {0, kLargest};
  EXPECT_EQ(FindSegment(offsets, 1, 0), 0);
  EXPECT_EQ(FindSegment(offsets, 1, kLargest - 1), 0);
}

static_assert(CeilDiv(-1, 64) == 0 && CeilDiv(-65, 64) == -1, "usable at compile time");

}  // namespace
}  // namespace gdnplan::plan
