// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/trace.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "client/load/random.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using absl::StatusCode;
using test::IsOk;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kHeader[] = "arrival_s,prompt_tokens,output_tokens\n";

void ExpectTraceRefused(const std::string& text, const std::string& message) {
  EXPECT_THAT(ParseTrace(text, "t.csv"),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(TraceTest, ReadsRows) {
  const auto requests = ParseTrace(std::string(kHeader) + "0,374,44\n4.314579,396,109\n", "t.csv");
  ASSERT_THAT(requests, IsOk());
  ASSERT_EQ(requests->size(), 2u);
  EXPECT_EQ((*requests)[0].arrival_s, 0);
  EXPECT_EQ((*requests)[1].arrival_s, 4.314579);
  EXPECT_EQ((*requests)[1].prompt_tokens, 396);
  EXPECT_EQ((*requests)[1].output_tokens, 109);
}

TEST(TraceTest, TakesWhatOtherToolsWrite) {
  const auto requests = ParseTrace(
      "\xEF\xBB\xBFoutput_tokens, arrival_s ,user,prompt_tokens\r\n7, 1.5 ,\"x\",9\r\n\r\n8,2e0,,1",
      "t.csv");
  ASSERT_THAT(requests, IsOk());
  ASSERT_EQ(requests->size(), 2u);
  EXPECT_EQ((*requests)[0].arrival_s, 1.5);
  EXPECT_EQ((*requests)[0].prompt_tokens, 9);
  EXPECT_EQ((*requests)[0].output_tokens, 7);
  EXPECT_EQ((*requests)[1].output_tokens, 8);
}

TEST(TraceTest, NamesLineAndColumnOfWhatIsWrong) {
  ExpectTraceRefused("", "t.csv:1: arrival_s: no such column");
  ExpectTraceRefused("0,1,1\n",
                     "must be a header that names arrival_s,prompt_tokens,output_tokens");
  ExpectTraceRefused("arrival_s,prompt_tokens\n", "t.csv:1: output_tokens: no such column");
  ExpectTraceRefused("arrival_s,arrival_s\n",
                     "t.csv:1: arrival_s: the header names this column twice");
  const std::string header = kHeader;
  ExpectTraceRefused(header, "t.csv: has a header and no rows");
  ExpectTraceRefused(header + "0,1,1\nx,1,1\n", "t.csv:3: arrival_s: must be seconds in 0..1e+09");
  for (const std::string arrival : {"-1", "nan", "inf", "1e10", "", "1s", "0x1"}) {
    ExpectTraceRefused(header + arrival + ",1,1\n", "(got \"" + arrival + "\")");
  }
  for (const std::string tokens : {"0", "-5", "1.5", "16777217", "99999999999", "", "+1", "1 2"}) {
    ExpectTraceRefused(
        header + "0," + tokens + ",1\n",
        "t.csv:2: prompt_tokens: must be a whole number in 1..16777216 (got \"" + tokens);
    ExpectTraceRefused(header + "0,1," + tokens + "\n", "t.csv:2: output_tokens: must be a whole");
  }
  ExpectTraceRefused(header + "0,1\n",
                     "t.csv:2: row: must have 3 fields as the header (got 2: \"0,1\")");
  ExpectTraceRefused(header + "0,1,1,\n", "must have 3 fields as the header (got 4");
  ExpectTraceRefused(header + "0,1,1,1\n", "must have 3 fields as the header (got 4");
  ExpectTraceRefused(
      header + "5,1,1\n4.5,1,1\n",
      "t.csv:3: arrival_s: must not be before the 5 of the row above (got 4.5); sort");
}

TEST(TraceTest, SurvivesJunk) {
  Random random(1);
  const std::string alphabet = "0123456789.,,,,-e\n\n\r \"x\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random.Chance(0.9) ? kHeader : "";
    for (int32_t length = random.Between(0, 60); length > 0; --length) {
      const auto last = static_cast<int32_t>(alphabet.size());
      // Its closing zero as well.
      text += alphabet.c_str()[random.Between(0, last)];
    }
    const auto requests = ParseTrace(text, "t.csv");
    if (!requests.ok()) continue;
    for (const Request& request : *requests) {
      EXPECT_GE(request.prompt_tokens, 1);
      EXPECT_GE(request.output_tokens, 1);
      EXPECT_GE(request.arrival_s, 0);
    }
  }
  // Errors quote the beginning of what is wrong, not a megabyte.
  const auto refused = ParseTrace(std::string(1 << 20, '\x01'), "t.csv");
  EXPECT_LT(refused.status().message().size(), 500u);
}

TEST(TraceTest, ReadsFiles) {
  const std::string path = ::testing::TempDir() + "/gdnplan_trace_test.csv";
  std::ofstream(path) << kHeader << "0,1,2\n";
  EXPECT_THAT(ReadTrace(path), IsOk());
  std::ofstream(path) << kHeader << "0,1,0\n";
  EXPECT_THAT(ReadTrace(path),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr(path + ":2: output_tokens")));
  std::ofstream(path) << "";
  EXPECT_THAT(ReadTrace(path), StatusIs(StatusCode::kInvalidArgument, HasSubstr("header")));
  EXPECT_THAT(ReadTrace("/nonexistent/t.csv"),
              StatusIs(StatusCode::kNotFound,
                       "cannot read /nonexistent/t.csv: No such file or directory; give a CSV file "
                       "with a header arrival_s,prompt_tokens,output_tokens"));
  EXPECT_THAT(ReadTrace("/"), StatusIs(StatusCode::kInvalidArgument, HasSubstr("is a directory")));
}

}  // namespace
}  // namespace gdnplan::load
