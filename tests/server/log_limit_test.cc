// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/log_limit.h"

#include <gtest/gtest.h>

namespace gdnplan::test {
namespace {

TEST(LogLimitTest, CountsWhatItLeavesOut) {
  server::LogLimit limit(2);
  server::LogLimit::Clock::time_point now = server::LogLimit::Clock::now();
  EXPECT_EQ(limit.Take(now), 0u);
  EXPECT_EQ(limit.Take(now), 0u);
  EXPECT_EQ(limit.Take(now), std::nullopt);
  now += std::chrono::milliseconds(999);
  EXPECT_EQ(limit.Take(now), std::nullopt);
  now += std::chrono::milliseconds(1);
  EXPECT_EQ(limit.Take(now), 2u);
  EXPECT_EQ(limit.Take(now), 0u);
  EXPECT_EQ(limit.Take(now), std::nullopt);
}

}  // namespace
}  // namespace gdnplan::test
