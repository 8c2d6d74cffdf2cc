// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/axis.h"

#include <gmock/gmock.h>

#include "client/load/units.h"

namespace gdnplan::load {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Labels(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Axis::Tick& tick : axis.ticks()) labels.push_back(tick.label);
  return labels;
}

TEST(AxisTest, LinearTicksAreRound) {
  EXPECT_THAT(Labels(Axis::Linear(1'180, Axis::Top::kTick, ShortCount)),
              ElementsAre("0", "200", "400", "600", "800", "1k", "1.2k"));
  EXPECT_THAT(Labels(Axis::Linear(0.3, Axis::Top::kTick, ShortCount)),
              ElementsAre("0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"));
  EXPECT_THAT(Labels(Axis::Linear(45, Axis::Top::kExact, ShortCount)),
              ElementsAre("0", "10", "20", "30", "40"));
  EXPECT_EQ(Axis::Linear(1'180, Axis::Top::kTick, ShortCount).high(), 1'200);
  EXPECT_EQ(Axis::Linear(45, Axis::Top::kExact, ShortCount).high(), 45);
}

TEST(AxisTest, NothingIsShownUpToOne) {
  EXPECT_EQ(Axis::Linear(0, Axis::Top::kTick, ShortCount).high(), 1);
}

TEST(AxisTest, LogarithmicTicksFitTheRange) {
  EXPECT_THAT(Labels(Axis::Log(30e3, 2e9, ShortLatency)),
              ElementsAre("100 us", "1 ms", "10 ms", "100 ms", "1 s"));
  EXPECT_THAT(Labels(Axis::Log(45e3, 1.1e6, ShortLatency)),
              ElementsAre("50 us", "100 us", "200 us", "500 us", "1 ms"));
  EXPECT_THAT(Labels(Axis::Log(60e3, 75e3, ShortLatency)),
              ElementsAre("60 us", "65 us", "70 us", "75 us"));
}

TEST(AxisTest, OneValueIsInTheMiddle) {
  const Axis axis = Axis::Log(61e3, 61e3, ShortLatency);
  EXPECT_NEAR(axis.Position(61e3), 0.5, 0.01);
  EXPECT_GE(axis.ticks().size(), 2u);
}

TEST(AxisTest, AllMagnitudes) {
  const Axis axis = Axis::Log(0, 3.6e12, ShortLatency);
  EXPECT_LE(axis.ticks().size(), 14u);
  EXPECT_GE(axis.Position(0), 0);
  EXPECT_LE(axis.Position(3.6e12), 1);
  EXPECT_EQ(axis.ticks().back().label, "1000 s");
}

TEST(AxisTest, PositionsHaveAnInverse) {
  for (const Axis& axis :
       {Axis::Log(10, 1'000, ShortLatency), Axis::Linear(1'000, Axis::Top::kExact, ShortCount)}) {
    for (const double value : {10.0, 99.0, 1'000.0}) {
      EXPECT_NEAR(axis.At(axis.Position(value)), value, 1e-6 * value);
    }
    EXPECT_EQ(axis.Position(axis.low() - 1), 0);
    EXPECT_EQ(axis.Position(axis.high() * 2), 1);
  }
}

}  // namespace
}  // namespace gdnplan::load
