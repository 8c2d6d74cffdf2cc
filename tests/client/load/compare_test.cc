// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/compare.h"

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "client/load/report_json.h"
#include "tests/client/load/some_result.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CompareTest, FiguresAndParameters) {
  const Result before = SomeResult();
  Result after = before;
  after.seconds = before.seconds * 2;
  after.errors.clear();
  after.parameters["transport"] = "unary";
  after.parameters["stable"]["limit"] = 9;
  after.parameters.erase("poisson");
  const auto text = CompareResults({"a.json", ToJsonText(before)}, {"b.json", ToJsonText(after)});
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, ContainsRegex("a.json +b.json +change\n"));
  EXPECT_THAT(*text, ContainsRegex("throughput +400/s +200/s +-50.0 %\n"));
  EXPECT_THAT(*text, ContainsRegex("latency p50 +61.4 us +61.4 us +=\n"));
  EXPECT_THAT(*text, ContainsRegex("errors +60 +0 +-100.0 %\n"));
  EXPECT_THAT(*text, ContainsRegex("transport +stream +unary\n"));
  EXPECT_THAT(*text, ContainsRegex("poisson +yes +-\n"));
  EXPECT_THAT(*text, ContainsRegex("stable.limit +- +9\n"));
  EXPECT_THAT(*text, Not(HasSubstr("sessions"))) << "the same in both";
  EXPECT_THAT(*text, Not(HasSubstr("goodput"))) << "in neither";
}

TEST(CompareTest, EqualRuns) {
  const std::string json = ToJsonText(SomeResult());
  const auto text = CompareResults({"a", json}, {"b", json});
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, HasSubstr("All parameters are equal.\n"));
  EXPECT_THAT(*text, Not(HasSubstr("%")));
}

TEST(CompareTest, FromNothing) {
  const auto text = CompareResults({"a", ToJsonText(Result())}, {"b", ToJsonText(SomeResult())});
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, ContainsRegex("latency p50 +- +61.4 us\n"));
  EXPECT_THAT(*text, ContainsRegex("errors +0 +60\n")) << "no percentage of 0";
}

TEST(CompareTest, RefusesOtherFiles) {
  const std::string good = ToJsonText(Result());
  for (const auto& [bad, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"[]", "not a result of gdnplan load --json"},
           {"{}", "not a result of gdnplan load --json"},
           {R"({"format": 1})", "not a result of gdnplan load --json"},
           {R"({"format": "other"})", "not a result of gdnplan load --json"},
           {R"({"sweep": "rate", "runs": []})", "a sweep, of several loads; give the file of one"},
           {"", "not valid JSON: parse error at line 1, column 1"},
           {"{\n  \"a\" 1}", "not valid JSON: parse error at line 2, column "}}) {
    EXPECT_THAT(
        CompareResults({"a", good}, {"bad\n.json", bad}),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string("bad .json: ") + text)));
  }
}

TEST(CompareTest, OddMembersAreNoFigures) {
  const std::string odd =
      R"({"format": "gdnplan-load-1", "parameters": [1, {"a": 2}], "plans_per_s": -1,)"
      R"( "latency": [], "service": {"ns": 3}, "server": {"ns": {"p50": "x"}}, "num_errors": 1e300})";
  const auto text = CompareResults({"a", odd}, {"b", ToJsonText(SomeResult())});
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, ContainsRegex("throughput +- +400/s\n"));
}

}  // namespace
}  // namespace gdnplan::load
