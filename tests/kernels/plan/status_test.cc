// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/status.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using test::IsOkAndHolds;
using test::StatusIs;
using ::testing::Pointee;

const absl::Status kError = absl::NotFoundError("gone");

TEST(ReturnIfErrorTest, ReturnsErrorsOnly) {
  const auto run = [](const absl::Status& status) -> absl::Status {
    GDNPLAN_RETURN_IF_ERROR(status);
    return absl::InternalError("went on");
  };
  EXPECT_EQ(run(kError), kError);
  EXPECT_THAT(run(absl::OkStatus()), StatusIs(absl::StatusCode::kInternal, "went on"));
}

TEST(ReturnIfErrorTest, EvaluatesOnceAndIsOneStatement) {
  int calls = 0;
  const auto run = [&calls](bool really) -> absl::Status {
    const auto call = [&calls] {
      ++calls;
      return absl::OkStatus();
    };
    if (really)
      GDNPLAN_RETURN_IF_ERROR(call());
    else
      return kError;
    return absl::OkStatus();
  };
  EXPECT_EQ(run(true), absl::OkStatus());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run(false), kError);
  EXPECT_EQ(calls, 1);
}

TEST(AssignOrReturnTest, AssignsOrReturns) {
  const auto run = [](const absl::StatusOr<int>& value) -> absl::StatusOr<int> {
    GDNPLAN_ASSIGN_OR_RETURN(const int held, value);
    return held + 1;
  };
  EXPECT_THAT(run(1), IsOkAndHolds(2));
  EXPECT_EQ(run(kError).status(), kError);
}

TEST(AssignOrReturnTest, MovesAndMayStandTwice) {
  const auto make = [](int value) -> absl::StatusOr<std::unique_ptr<int>> {
    return std::make_unique<int>(value);
  };
  const auto run = [&make]() -> absl::StatusOr<std::unique_ptr<int>> {
    std::unique_ptr<int> two;
    GDNPLAN_ASSIGN_OR_RETURN(auto one, make(1));
    GDNPLAN_ASSIGN_OR_RETURN(two, make(2));
    *one += *two;
    return one;
  };
  EXPECT_THAT(run(), IsOkAndHolds(Pointee(3)));
}

TEST(InvalidFieldTest, NamesTheFieldInTextAndPayload) {
  const absl::Status status = InvalidField("groups[2].block_size", "must be at least 1 (got 0)");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               "groups[2].block_size: must be at least 1 (got 0)"));
  const auto payload = status.GetPayload(ToAbsl(kFieldPayload));
  ASSERT_TRUE(payload.has_value());
  EXPECT_EQ(std::string(*payload), "groups[2].block_size");
}

TEST(RetryAfterTest, NotesTheDelay) {
  const absl::Status status = RetryAfter(kError, std::chrono::milliseconds(1250));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "gone"));
  EXPECT_EQ(RetryDelay(status), std::chrono::milliseconds(1250));
  EXPECT_EQ(RetryDelay(kError), std::nullopt);
}

TEST(InvalidElementTest, NamesTheElement) {
  const absl::Status status = InvalidElement("seq_lens", 7, "must be odd (got 2)");
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument, "seq_lens[7]: must be odd (got 2)"));
  EXPECT_EQ(std::string(*status.GetPayload(ToAbsl(kFieldPayload))), "seq_lens[7]");
}

TEST(StickyTest, SurvivesCopiesAndKeepsCodeAndText) {
  const absl::StatusOr<int> sticky = MakeSticky(absl::InternalError("lost"));
  EXPECT_THAT(sticky, StatusIs(absl::StatusCode::kInternal, "lost"));
  EXPECT_TRUE(IsSticky(sticky.status()));
  EXPECT_FALSE(IsSticky(absl::InternalError("lost")));
  EXPECT_FALSE(IsSticky(MakeSticky(absl::OkStatus())));
}

TEST(ToAbslTest, KeepsEveryByte) {
  const std::string_view text("a\0b", 3);
  const absl::string_view converted = ToAbsl(text);
  EXPECT_EQ(converted.data(), text.data());
  EXPECT_EQ(converted.size(), text.size());
}

}  // namespace
}  // namespace gdnplan::plan
