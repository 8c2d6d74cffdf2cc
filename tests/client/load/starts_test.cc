// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/starts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/load/start_budget.h"

namespace gdnplan::load {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

const Starts::Clock::time_point kBegin{1000s};

LoadOptions Options(Pace pace, double rate, int sessions) {
  LoadOptions options;
  options.pace = pace;
  options.rate = rate;
  options.sessions = sessions;
  return options;
}

// Takes all before `end` one by one.
uint64_t TakeAll(Starts& starts, Starts::Clock::time_point end) {
  uint64_t taken = 0;
  for (; *starts.Next(0) < end; ++taken) starts.Take();
  return taken;
}

TEST(StartsTest, AWindowHasItsShareWhoeverMakesThem) {
  for (const double rate : {1.0, 7.0, 1000.0, 44'100.0}) {
    for (const int sessions : {1, 3}) {
      uint64_t made = 0;
      uint64_t due = 0;
      for (int session = 0; session < sessions; ++session) {
        Starts starts(Options(Pace::kConstant, rate, sessions), session);
        starts.Begin(kBegin);
        made += TakeAll(starts, kBegin + 1500ms);
        EXPECT_EQ(starts.End(kBegin + 1500ms), 0u) << "all were made";
        // The load's time stood still.
        starts.Begin(kBegin + 60s);
        EXPECT_GE(*starts.Next(0), kBegin + 60s);
        due += starts.End(kBegin + 60s + 2500ms);
      }
      EXPECT_EQ(made + due, std::llround(4 * rate)) << rate;
      EXPECT_EQ(made, std::ceil(1.5 * rate));
    }
  }
}

TEST(StartsTest, TheSlowestRateIsOneStartAndThenNoneForYears) {
  for (const Pace pace : {Pace::kConstant, Pace::kPoisson}) {
    for (const int session : {0, 999}) {
      Starts starts(Options(pace, kMinRate, 1000), session);
      starts.Begin(kBegin);
      EXPECT_GE(*starts.Next(0), kBegin);
      if (session == 0) starts.Take();
      EXPECT_GT(*starts.Next(0), kBegin + 86'400s);
      EXPECT_EQ(starts.End(kBegin + 86'400s), 0u);
    }
  }
}

TEST(StartsTest, WhatIsDueInAThousandYearsIsLaterThanAnyWindow) {
  Starts starts(Options(Pace::kTrace, 0, 1), 0);
  starts.Begin(kBegin);
  EXPECT_GT(*starts.Next(1e300), kBegin + 86'400s);
}

TEST(StartsTest, MoreThanAnybodyCouldMakeAreCountedAtOnce) {
  Starts starts(Options(Pace::kConstant, 1e7, 1), 0);
  starts.Begin(kBegin);
  starts.Take();
  EXPECT_EQ(starts.End(kBegin + 86'400s), 864'000'000'000u - 1);
}

TEST(StartsTest, PoissonStartsComeAsOftenWhetherMadeOrNot) {
  Starts made(Options(Pace::kPoisson, 1000, 1), 0);
  Starts skipped(Options(Pace::kPoisson, 1000, 1), 0);
  made.Begin(kBegin);
  skipped.Begin(kBegin);
  // Of 100,000 the standard deviation is 316.
  EXPECT_NEAR(static_cast<double>(TakeAll(made, kBegin + 100s)), 1e5, 2000);
  EXPECT_NEAR(static_cast<double>(skipped.End(kBegin + 100s)), 1e5, 2000);
  skipped.Begin(kBegin + 200s);
  EXPECT_GE(*skipped.Next(0), kBegin + 200s);
}

TEST(StartsTest, OthersFollowTheirSteps) {
  Starts closed(Options(Pace::kClosed, 0, 1), 0);
  closed.Begin(kBegin);
  EXPECT_EQ(closed.Next(5), std::nullopt);
  EXPECT_EQ(closed.End(kBegin + 1s), 0u);
  Starts trace(Options(Pace::kTrace, 0, 1), 0);
  trace.Begin(kBegin);
  EXPECT_EQ(trace.Next(5), kBegin + 5s);
  EXPECT_EQ(trace.End(kBegin + 2s), 0u);
  trace.Begin(kBegin + 100s);
  EXPECT_EQ(trace.Next(5), kBegin + 103s);
}

TEST(StartBudgetTest, GivesWhatIsLeft) {
  StartBudget budget(5);
  EXPECT_EQ(budget.Take(1), 1u);
  EXPECT_EQ(budget.Take(10), 4u);
  EXPECT_EQ(budget.Take(1), 0u);
}

}  // namespace
}  // namespace gdnplan::load
