// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/units.h"

#include <gmock/gmock.h>

#include <limits>

namespace gdnplan::load {
namespace {

TEST(UnitsTest, Latencies) {
  EXPECT_EQ(Latency(0), "0 ns");
  EXPECT_EQ(Latency(850), "850 ns");
  EXPECT_EQ(Latency(999.6), "1.00 us");
  EXPECT_EQ(Latency(61'234), "61.2 us");
  EXPECT_EQ(Latency(9'996), "10.0 us");
  EXPECT_EQ(Latency(999'499), "999 us");
  EXPECT_EQ(Latency(999'500), "1.00 ms");
  EXPECT_EQ(Latency(2e9), "2.00 s");
  EXPECT_EQ(Latency(3.6e12), "3600 s");
  EXPECT_EQ(ShortLatency(60'000), "60 us");
  EXPECT_EQ(ShortLatency(1.5e6), "1.5 ms");
}

TEST(UnitsTest, Counts) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1'000), "1,000");
  EXPECT_EQ(Grouped(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
  EXPECT_EQ(ShortCount(0), "0");
  EXPECT_EQ(ShortCount(20'000), "20k");
  EXPECT_EQ(ShortCount(1.5e6), "1.5M");
}

TEST(UnitsTest, Rates) {
  EXPECT_EQ(Rate(0), "0.00");
  EXPECT_EQ(Rate(0.0011), "0.0011");
  EXPECT_EQ(Rate(16.66), "16.7");
  EXPECT_EQ(Rate(999.5), "1,000");
  EXPECT_EQ(Rate(20'345.4), "20,345");
  EXPECT_EQ(Rate(1e300), "10,000,000,000,000,000,000");
}

TEST(UnitsTest, Parts) {
  EXPECT_EQ(Percent(1, 3), "33.3 %");
  EXPECT_EQ(Percent(3, 3), "100 %");
  EXPECT_EQ(Percent(1, 1e9), "< 0.01 %");
  EXPECT_EQ(Percent(0, 0), "0.00 %");
}

TEST(UnitsTest, Clocks) {
  EXPECT_EQ(Clock(-1), "0:00");
  EXPECT_EQ(Clock(59.6), "1:00");
  EXPECT_EQ(Clock(725), "12:05");
  EXPECT_EQ(Clock(3'723), "1:02:03");
}

}  // namespace
}  // namespace gdnplan::load
