// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/report_text.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/client/load/some_result.h"

namespace gdnplan::load {
namespace {

using ::testing::_;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// 99 plans in 50 us and one in 2 s.
Result Small() {
  Result result;
  result.seconds = 2;
  for (int i = 0; i < 99; ++i) result.latency.Record(50'000);
  result.latency.Record(2'000'000'000);
  result.service = result.latency;
  result.plans = 100;
  result.request_bytes = 204'800;
  result.plan_bytes = 409'600;
  return result;
}

TEST(ReportTextTest, AllFigures) {
  Result result = Small();
  result.plans_by_kind = {{"decode", 75}, {"mixed", 25}};
  EXPECT_EQ(FormatReport(result),
            "throughput  50.0 plans/s (100 plans in 2.0 s)\n"
            "errors      none\n"
            "\n"
            "latency\n"
            "              p50      p90      p99   p99.9  p99.99     max     mean\n"
            "  client  50.2 us  50.2 us  50.2 us  2.00 s  2.00 s  2.00 s  20.0 ms\n"
            "\n"
            "plans by kind\n"
            "  decode  75  75.0 %\n"
            "  mixed   25  25.0 %\n"
            "\n"
            "bytes\n"
            "               total   a second   a plan\n"
            "  batches  200.0 KiB  100.0 KiB  2.0 KiB\n"
            "  plans    400.0 KiB  200.0 KiB  4.0 KiB\n");
}

TEST(ReportTextTest, WhatAnOpenLoopAdds) {
  const std::string text = FormatReport(SomeResult());
  EXPECT_THAT(text, HasSubstr("12 skipped (due and never made), 345 more than 1 ms late"));
  EXPECT_THAT(text, ContainsRegex("from intended start .* 2.00 s "));
  EXPECT_THAT(text, ContainsRegex("from actual start .* us "));
  EXPECT_THAT(text, ContainsRegex("server's own part .* us "));
  EXPECT_THAT(text, HasSubstr("\nerrors      60\n"));
  EXPECT_THAT(text, ContainsRegex("\n  RESOURCE_EXHAUSTED  60  0.25 %\n"));
  EXPECT_THAT(text, HasSubstr("verified    370 plans, no mismatch\n"));
}

TEST(ReportTextTest, MismatchesAreLoud) {
  Result result = Small();
  result.verified = 3;
  result.mismatches = 2;
  EXPECT_THAT(FormatReport(result), HasSubstr("3 plans, 2 MISMATCHES"));
}

TEST(ReportTextTest, Goodput) {
  Result result = Small();
  result.objective_ns = 100'000;
  EXPECT_THAT(FormatReport(result), HasSubstr("goodput     49.5 plans/s within 100 us (99.0 %)\n"));
}

TEST(ReportTextTest, ALostServerIsNotAveragedOver) {
  Result result = Small();
  result.seconds = 10;
  result.lost_after_s = 2;
  result.address = "unix:/s";
  result.failures = {{1, 100, 1.9, "PlanStream", "UNAVAILABLE", "refused\n"},
                     {2, 0, 2, "Heartbeat", "UNAVAILABLE", "gone"}};
  EXPECT_THAT(FormatReport(result),
              HasSubstr("throughput  50.0 plans/s (100 plans in the first 2.0 of 10.0 s, until all "
                        "sessions were lost)\n"));
  EXPECT_THAT(FormatFailures(result),
              ElementsAre(StartsWith("the server was lost after 2.0 s: UNAVAILABLE: refused  "
                                     "(PlanStream at unix:/s); ")));
}

TEST(ReportTextTest, SessionsThatFailedAreNamed) {
  Result result = Small();
  result.address = "unix:/s";
  result.failures = {{2, 0, 0, "PlanStream", "RESOURCE_EXHAUSTED", "streams"},
                     {4, 7, 1.5, "Plan", "NOT_FOUND", "gone"}};
  EXPECT_THAT(
      FormatFailures(result),
      ElementsAre("session 2 got no plan: RESOURCE_EXHAUSTED: streams (PlanStream at unix:/s)",
                  "session 4 was lost after 1.5 s: NOT_FOUND: gone (Plan at unix:/s)"));
  result.failures.resize(5, result.failures.front());
  EXPECT_THAT(FormatFailures(result), ElementsAre(_, _, _, "2 more sessions failed"));
  EXPECT_THAT(FormatFailures(Small()), ElementsAre());
}

TEST(ReportTextTest, Nothing) {
  EXPECT_EQ(FormatReport(Result()),
            "throughput  0.00 plans/s (0 plans in 0.0 s)\nerrors      none\n");
}

TEST(ReportTextTest, NamesCannotSteerTheTerminal) {
  Result result = Small();
  result.plans_by_kind = {{"bad\x1b[2J\n", 1}};
  const std::string text = FormatReport(result);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("bad [2J "));
}

TEST(ReportTextTest, ProgressIsOneLineOfEqualLength) {
  Progress progress{12.3, 47.7, false, 20'345, 61'234, 112'345, 3};
  const std::string first = FormatProgress(progress);
  EXPECT_EQ(first, "  0:12     20,345/s  p50 61.2 us  p99  112 us  errors 3  left 0:48        ");
  progress = {13.3, 46.7, false, 18, 1'234'567, 2'100'000'000, 4};
  const std::string second = FormatProgress(progress);
  EXPECT_EQ(second.size(), first.size());
  EXPECT_LT(second.size(), 80u);
  EXPECT_EQ(std::count(second.begin(), second.end(), '\n'), 0);
}

TEST(ReportTextTest, ProgressOfAWarmUpWithoutAnEnd) {
  const std::string line = FormatProgress({1, std::nullopt, true, 0, 0, 0, 0});
  EXPECT_THAT(line, HasSubstr("warm-up"));
  EXPECT_THAT(line, Not(HasSubstr("left")));
}

}  // namespace
}  // namespace gdnplan::load
