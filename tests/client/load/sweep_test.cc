// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/sweep.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace gdnplan::load {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

SweepRow Row(double value, double rate, double p99_us) {
  return {std::to_string(static_cast<int>(value)), rate, static_cast<int64_t>(p99_us * 500),
          static_cast<int64_t>(p99_us * 1e3),      0,    0};
}

// A closed loop of a server that does `servers` at a time, 100 us each: by Little's law.
std::vector<SweepRow> ClosedLoop(double servers) {
  std::vector<SweepRow> rows;
  for (const double n : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    const double rate = std::min(n, servers) * 1e4;
    rows.push_back(Row(n, rate, n / rate * 1e6));
  }
  return rows;
}

TEST(SweepTest, AClosedLoopsKneeIsWhereTheServerIsBusy) {
  EXPECT_THAT(FindKnee(ClosedLoop(4)), Optional(2u)) << "4 at a time";
  EXPECT_THAT(FindKnee(ClosedLoop(16)), Optional(4u)) << "16 at a time";
}

TEST(SweepTest, AnOpenLoopsKneeIsBeforeTheQueueGrows) {
  // M/M/1: p99 = ln(100) / (capacity - rate), whose power is greatest at half the capacity.
  std::vector<SweepRow> rows;
  for (const double load : {0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
    rows.push_back(Row(100 * load, 1e4 * load, 4.6e6 / (1e4 * (1 - load))));
  }
  EXPECT_THAT(FindKnee(rows), Optional(2u));
}

TEST(SweepTest, TheKneeDoesNotMoveWithTheRangeOrTheUnits) {
  std::vector<SweepRow> rows = ClosedLoop(4);
  rows.resize(4);
  EXPECT_THAT(FindKnee(rows), Optional(2u));
  for (SweepRow& row : rows) row.rate *= 1e6;
  EXPECT_THAT(FindKnee(rows), Optional(2u));
}

TEST(SweepTest, NoiseDoesNotMoveTheKneeBack) {
  const std::vector<SweepRow> rows = {Row(1, 100, 50), Row(2, 204, 50), Row(3, 300, 75),
                                      Row(4, 310, 200)};
  EXPECT_THAT(FindKnee(rows), Optional(2u)) << "a power of 4.0 after 4.08";
}

TEST(SweepTest, RowsWithErrorsAreOverloaded) {
  // Refusals keep p99 low.
  std::vector<SweepRow> rows = {Row(1, 100, 50), Row(2, 200, 52), Row(4, 390, 53), Row(8, 780, 54)};
  rows[2].errors = 1;
  rows[3].skipped = 1;
  EXPECT_THAT(FindKnee(rows), Optional(1u));
  for (SweepRow& row : rows) row.errors = 1;
  EXPECT_EQ(FindKnee(rows), std::nullopt);
  EXPECT_THAT(FormatSweep("rate", rows), HasSubstr("No knee: no row is free of errors"));
}

TEST(SweepTest, TheTableMarksTheKnee) {
  const std::string text = FormatSweep("concurrency", ClosedLoop(4));
  EXPECT_THAT(text, ContainsRegex("concurrency +plans/s +p50 +p99 +errors +skipped\n"));
  EXPECT_THAT(text, ContainsRegex(" 4 +40,000 +50.0 us +100 us +0 +0  <- knee\n"));
  EXPECT_THAT(text, HasSubstr("The knee is at concurrency=4: beyond it"));
}

TEST(SweepTest, NoKneeYet) {
  const std::string text = FormatSweep("concurrency", ClosedLoop(1'000));
  EXPECT_THAT(text, Not(HasSubstr("<- knee")));
  EXPECT_THAT(text, HasSubstr("No knee up to concurrency=64"));
}

TEST(SweepTest, PastTheKneeFromTheStart) {
  EXPECT_THAT(FormatSweep("rate", ClosedLoop(1)), HasSubstr("The knee is at rate=1 or below"));
}

TEST(SweepTest, TooFewRows) {
  EXPECT_EQ(FindKnee({}), std::nullopt);
  EXPECT_EQ(FindKnee({Row(1, 1, 1), Row(2, 2, 1)}), std::nullopt);
  EXPECT_THAT(FormatSweep("rate", {}), HasSubstr("three rows"));
}

TEST(SweepTest, ARowOfAResult) {
  Result result;
  result.seconds = 2;
  result.plans = 100;
  result.errors = {{"INTERNAL", 1}, {"UNAVAILABLE", 2}};
  result.skipped = 4;
  for (int i = 0; i < 100; ++i) result.latency.Record(i < 90 ? 50 : 100);
  const SweepRow row = MakeSweepRow("8", result);
  EXPECT_EQ(row.value, "8");
  EXPECT_EQ(row.rate, 50);
  EXPECT_EQ(row.p50_ns, 50);
  EXPECT_EQ(row.p99_ns, 100);
  EXPECT_EQ(row.errors, 3u);
  EXPECT_EQ(row.skipped, 4u);
}

}  // namespace
}  // namespace gdnplan::load
