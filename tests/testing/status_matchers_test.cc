// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/status_matchers.h"

#include <memory>
#include <string>

namespace gdnplan::test {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointee;
using ::testing::StringMatchResultListener;

const absl::Status kError = absl::NotFoundError("no such thing");

TEST(StatusMatchersTest, IsOk) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(1), IsOk());
  EXPECT_THAT(kError, Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(kError), Not(IsOk()));
}

TEST(StatusMatchersTest, StatusIs) {
  EXPECT_THAT(kError, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(kError, StatusIs(absl::StatusCode::kNotFound, "no such thing"));
  EXPECT_THAT(absl::StatusOr<int>(kError), StatusIs(_, HasSubstr("such")));
  EXPECT_THAT(kError, Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(kError, Not(StatusIs(absl::StatusCode::kNotFound, "no such")));
  EXPECT_THAT(absl::OkStatus(), Not(StatusIs(absl::StatusCode::kNotFound)));
}

TEST(StatusMatchersTest, IsOkAndHolds) {
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(3));
  EXPECT_THAT(absl::StatusOr<std::string>("text"), IsOkAndHolds(HasSubstr("ex")));
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(5)),
              IsOkAndHolds(Pointee(5)));
  EXPECT_THAT(absl::StatusOr<int>(3), Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<int>(kError), Not(IsOkAndHolds(_)));
}

TEST(StatusMatchersTest, FailureShowsTheStatus) {
  StringMatchResultListener listener;
  EXPECT_FALSE(::testing::ExplainMatchResult(IsOk(), kError, &listener));
  EXPECT_THAT(listener.str(), HasSubstr("no such thing"));
}

}  // namespace
}  // namespace gdnplan::test
