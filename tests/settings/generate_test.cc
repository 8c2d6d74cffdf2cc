// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/generate.h"

#include <gmock/gmock.h>

#include "tests/settings/sample_app.h"
#include "tests/testing/process.h"

namespace gdnplan::settings {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// What a script prints.
std::string RunBash(const std::string& script) {
  test::Process process({"/bin/bash", "-c", script});
  const int status = process.Wait();
  return status == 0 ? process.RestOfOutput()
                     : "status " + std::to_string(status) + ": " + process.ErrorOutput();
}

// The completions that bash offers for the last of these words.
std::string Complete(const std::string& words) {
  const SampleApp sample;
  return RunBash("cd /; " + Generate(sample.app, "bash") + "COMP_WORDS=(" + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sample; echo ${COMPREPLY[*]}");
}

TEST(GenerateTest, BashCompletesOptionsAndSubcommands) {
  EXPECT_EQ(Complete("sample ''"), "run\n");
  EXPECT_EQ(Complete("sample --l"), "--listen --lease\n");
  EXPECT_EQ(Complete("sample run --v"), "--verbose --version\n");
  EXPECT_EQ(Complete("sample run --le"), "--lease\n");
  EXPECT_EQ(Complete("sample --verb"), "\n");
}

TEST(GenerateTest, BashCompletesValues) {
  EXPECT_EQ(Complete("sample --fill ''"), "auto copy\n");
  EXPECT_EQ(Complete("sample --fill = c"), "copy\n");
  EXPECT_EQ(Complete("sample run --fill ="), "auto copy\n");
  EXPECT_EQ(Complete("sample --lease ''"), "\n");
  EXPECT_EQ(Complete("sample --cert /et"), "/etc\n");
  EXPECT_EQ(Complete("sample run /et"), "/etc\n");
}

TEST(GenerateTest, ZshHasEveryOption) {
  const SampleApp sample;
  EXPECT_THAT(
      Generate(sample.app, "zsh"),
      AllOf(StartsWith("#compdef sample\n"), HasSubstr("'*--listen=[Where to listen]:ADDR: '"),
            HasSubstr("'--fill=[How it is filled]:TEXT:(auto copy)'"),
            HasSubstr("'--cert=[A certificate'\\''s file]:FILE:_files'"),
            HasSubstr("'run:Runs it'"), HasSubstr("'-v[Says more]'")));
}

TEST(GenerateTest, TheManualHasEveryOption) {
  SampleApp sample;
  bool hidden = false;
  sample.app.add_flag("--hidden", hidden, "Not for you")->group("");
  sample.app.get_subcommand("run")->footer("'quoted' -a\n.dot \\n");
  EXPECT_THAT(
      Generate(sample.app, "man"),
      AllOf(StartsWith(
                ".TH SAMPLE 1 \"\" \"sample 1.2\"\n.SH NAME\nsample \\- Does what samples do\n"),
            HasSubstr("\\fBsample run\\fR [\\fIOPTION\\fR ...] \\fIFILE\\fR ...\n"),
            HasSubstr(".TP\n\\fB\\-\\-listen\\fR \\fIADDR\\fR ...\nWhere to listen. Twice, too.\n"
                      "Default: here. Environment: \\fBSAMPLE_LISTEN\\fR.\n"),
            HasSubstr("From 0 to 60. Default: 30."), HasSubstr("One of auto, copy. Default: auto."),
            HasSubstr(".SS sample run\n"), HasSubstr("What\\(aqs run.\n"),
            HasSubstr("\\(aqquoted\\(aq \\-a\n\\&.dot \\en\n"), HasSubstr("Exit status: 0.\n"),
            Not(HasSubstr("hidden"))));
}

}  // namespace
}  // namespace gdnplan::settings
