// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/plan_trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::CallRecord;
using server::PlanTrace;
using std::chrono::microseconds;
using ::testing::HasSubstr;

class PlanTraceTest : public ::testing::Test {
 protected:
  ~PlanTraceTest() override { std::filesystem::remove(path_); }

  static CallRecord Call() {
    const server::CallTimes::Time start{std::chrono::hours(1)};
    CallRecord call{.session = 3,
                    .plan_id = 9,
                    .slot = 1,
                    .times = {.received = start,
                              .submitted = start + microseconds(1),
                              .begun = start + microseconds(3),
                              .enqueued = start + microseconds(7),
                              .answered = start + microseconds(15)}};
    call.counts.num_decodes = 5;
    return call;
  }
  nlohmann::json Read() const {
    std::ifstream file(path_);
    return nlohmann::json::parse(file);
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("gdnplan-trace-" + std::to_string(getpid())))
          .string();
};

// By somebody who wants the room back: what comes later does not lie behind a hole.
TEST_F(PlanTraceTest, GoesOnInAFileThatIsCutWhileItIsOpen) {
  {
    const auto trace = PlanTrace::Create(path_);
    ASSERT_THAT(trace, IsOk());
    (*trace)->Add(Call());
    ASSERT_TRUE(Eventually([&] { return std::filesystem::file_size(path_) > 100; }));
    std::filesystem::resize_file(path_, 0);
    (*trace)->Add(Call());
  }
  std::ifstream file(path_);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_GT(text.size(), 100u);
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

TEST_F(PlanTraceTest, HasEachCallWithItsStages) {
  {
    const auto trace = PlanTrace::Create(path_);
    ASSERT_THAT(trace, IsOk());
    (*trace)->Add(Call());
    CallRecord refused = Call();
    refused.code = absl::StatusCode::kInvalidArgument;
    refused.times.begun = refused.times.enqueued = {};
    (*trace)->Add(refused);
  }
  const nlohmann::json events = Read();
  ASSERT_EQ(events.size(), 5u + 2u);
  EXPECT_EQ(events[0]["name"], "plan");
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[0]["tid"], 3);
  EXPECT_EQ(events[0]["ts"], 3'600e6);
  EXPECT_EQ(events[0]["dur"], 15);
  EXPECT_EQ(events[0]["args"]["plan_id"], 9);
  EXPECT_EQ(events[0]["args"]["num_decodes"], 5);
  const std::pair<const char*, int> stages[] = {
      {"parse", 1}, {"wait", 2}, {"plan", 4}, {"ready", 8}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(events[i + 1]["name"], stages[i].first);
    EXPECT_EQ(events[i + 1]["cat"], "stage");
    EXPECT_EQ(events[i + 1]["dur"], stages[i].second);
  }
  EXPECT_EQ(events[5]["args"]["error"], "INVALID_ARGUMENT");
  EXPECT_EQ(events[6]["name"], "parse");
}

TEST_F(PlanTraceTest, NothingIsAnEmptyList) {
  ASSERT_THAT(PlanTrace::Create(path_), IsOk());
  EXPECT_EQ(Read(), nlohmann::json::array());
}

TEST_F(PlanTraceTest, ReplacesAnOldOneButNotOneThatIsBeingWritten) {
  std::ofstream(path_) << std::string(10'000, 'x');
  const auto trace = PlanTrace::Create(path_);
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
  EXPECT_THAT(PlanTrace::Create(path_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                 HasSubstr("another server writes to it")));
}

TEST_F(PlanTraceTest, KeepsToItsSizeAndSaysWhatItLeftOut) {
  std::atomic<int> ends = 0;
  std::shared_ptr<PlanTrace> trace =
      *PlanTrace::Create(path_, {.max_bytes = 4096}, [&](const absl::Status& why) {
        ++ends;
        EXPECT_THAT(why, StatusIs(absl::StatusCode::kResourceExhausted,
                                  HasSubstr(path_ + " has reached 4096 bytes")));
      });
  for (int i = 0; i < 100; ++i) trace->Add(Call());
  // All of them are in the file, or were not for want of room.
  EXPECT_TRUE(Eventually([&] { return trace->num_left_out() > 80; }));
  EXPECT_LT(trace->num_left_out(), 100u);
  trace.reset();
  EXPECT_EQ(ends, 1);
  EXPECT_LE(std::filesystem::file_size(path_), 4096u + 8u);
  EXPECT_GT(Read().size(), 5u);
}

TEST_F(PlanTraceTest, WhatDoesNotFitInMemoryIsLeftOutToo) {
  const auto trace = PlanTrace::Create(path_, {.max_waiting = 0});
  ASSERT_THAT(trace, IsOk());
  (*trace)->Add(Call());
  EXPECT_EQ((*trace)->num_left_out(), 1u);
}

TEST_F(PlanTraceTest, SaysWhyItCannotWrite) {
  EXPECT_THAT(PlanTrace::Create("/nowhere/trace.json"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::AllOf(HasSubstr("trace-file"), HasSubstr("/nowhere/trace.json"),
                                        HasSubstr("No such file"))));
}

}  // namespace
}  // namespace gdnplan::test
