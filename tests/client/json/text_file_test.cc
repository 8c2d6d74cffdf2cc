// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/text_file.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::json {
namespace {

using absl::StatusCode;
using test::StatusIs;

TEST(ReadFileTest, ReadsTheWholeAndNoMore) {
  const test::TemporaryDirectory directory;
  const std::string text(100'000, 'x');
  const std::string path = directory.Write("file", text);
  const auto read = ReadFile(path, text.size());
  ASSERT_THAT(read, test::IsOk());
  EXPECT_EQ(*read, text);
  EXPECT_THAT(ReadFile(path, text.size() - 1),
              StatusIs(StatusCode::kInvalidArgument, path + ": must have at most 99999 bytes"));
  EXPECT_THAT(ReadFile("/dev/zero", 1 << 20),
              StatusIs(StatusCode::kInvalidArgument, "/dev/zero: must have at most 1048576 bytes"));
}

TEST(ReadFileTest, SaysWhyNot) {
  EXPECT_THAT(ReadFile("/nowhere"),
              StatusIs(StatusCode::kNotFound, "cannot read /nowhere: No such file or directory"));
  EXPECT_THAT(ReadFile("/"),
              StatusIs(StatusCode::kInvalidArgument, "/ is a directory, not a file"));
  // Opens, and cannot be read.
  EXPECT_THAT(ReadFile("/proc/self/mem"),
              StatusIs(StatusCode::kNotFound, "cannot read /proc/self/mem: Input/output error"));
}

}  // namespace
}  // namespace gdnplan::json
