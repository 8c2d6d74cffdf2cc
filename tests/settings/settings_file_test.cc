// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace gdnplan::settings {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::HasSubstr;

TEST(SettingsFileTest, AByteOrderMarkIsNoKey) {
  const auto entries = ParseEntries("f",
                                    "\xEF\xBB\xBF"
                                    "lease = 1\n");
  ASSERT_THAT(entries, test::IsOk());
  EXPECT_EQ(entries->front().key, "lease");
}

TEST(SettingsFileTest, KeysValuesAndLines) {
  const auto entries = ParseEntries("f",
                                    "# all = 1\n"
                                    "\n"
                                    "lease = 5\n"
                                    "  listen=unix:/a#b , c = d \t# not this\r\n"
                                    "empty =\n"
                                    "last = 1");
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_THAT(*entries,
              ElementsAre(FieldsAre("lease", "5", 3), FieldsAre("listen", "unix:/a#b , c = d", 4),
                          FieldsAre("empty", "", 5), FieldsAre("last", "1", 6)));
}

TEST(SettingsFileTest, MarksKeepWhatIsBetweenThem) {
  const auto entries = ParseEntries("f",
                                    "a = \"/x #1\"\n"
                                    "b =\" = \" # a comment\n"
                                    "c = \"\"\n"
                                    "d = \"\"\"x\"\" # y\"");
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_THAT(*entries, ElementsAre(FieldsAre("a", "/x #1", 1), FieldsAre("b", " = ", 2),
                                    FieldsAre("c", "", 3), FieldsAre("d", "\"x\" # y", 4)));
  for (const char* line : {"a = \"x", "a = \"", "a = \"x\" y", "a = \"x # \" y"}) {
    EXPECT_THAT(std::string(ParseEntries("f", line).status().message()),
                HasSubstr("f:1: a: must end with the quotation mark that it begins with (got \""))
        << line;
  }
}

TEST(SettingsFileTest, WhatIsWrittenIsReadAsItWas) {
  for (const std::string value : {"", "1", "unix:/a#b", "/x #1", "#", " x ", "a = \t#b", "a\" #b",
                                  "\"", "\"\"", "\"x\"", "x # \" y"}) {
    const auto entries = ParseEntries("f", "key = " + FormatValue(value));
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_THAT(*entries, ElementsAre(FieldsAre("key", value, 1)));
  }
  EXPECT_EQ(FormatValue("unix:/a#b"), "unix:/a#b");
}

TEST(SettingsFileTest, NothingIsAFileToo) { EXPECT_TRUE(ParseEntries("f", "")->empty()); }

TEST(SettingsFileTest, LinesThatAreNoneAreNamed) {
  for (const char* line : {"lease", "[server]", "= 5", "lease # = 5"}) {
    EXPECT_THAT(std::string(ParseEntries("f", std::string("a = 1\n") + line).status().message()),
                HasSubstr("f:2: must be \"key = value\" (got "))
        << line;
  }
}

TEST(SettingsFileTest, FilesThatCannotBeRead) {
  EXPECT_EQ(ReadEntries("/nonexistent/file").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadEntries("/").ok());
  EXPECT_THAT(std::string(ReadEntries("/dev/zero").status().message()),
              HasSubstr("/dev/zero: must have at most 1048576 bytes"));
}

}  // namespace
}  // namespace gdnplan::settings
