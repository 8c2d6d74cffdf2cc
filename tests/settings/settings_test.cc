// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/settings.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/settings/sample_app.h"

namespace gdnplan::settings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() : path_(::testing::TempDir() + "gdnplan_settings." + std::to_string(getpid())) {
    for (const char* variable : {"SAMPLE_CONFIG", "SAMPLE_LISTEN", "SAMPLE_LEASE", "SAMPLE_CERT",
                                 "SAMPLE_OPEN", "SAMPLE_FILL"}) {
      unsetenv(variable);
    }
  }
  ~SettingsTest() override { std::remove(path_.c_str()); }

  // The flag that reads a file with this text.
  std::string File(const std::string& text) const {
    std::ofstream(path_) << text;
    return "--config=" + path_;
  }

  absl::StatusOr<Settings::Next> Parse(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"sample"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return settings_.Parse(static_cast<int>(argv.size()), argv.data());
  }
  // The error's text.
  std::string Refusal(const std::vector<std::string>& arguments) {
    const auto next = Parse(arguments);
    return next.ok() ? "it was taken" : std::string(next.status().message());
  }
  std::string PathAndLine(int line) const { return path_ + ":" + std::to_string(line); }

  const std::string path_;
  SampleApp sample_;
  Settings settings_{sample_.app, "SAMPLE_CONFIG"};
};

TEST_F(SettingsTest, DefaultsWithoutAnything) {
  EXPECT_EQ(*Parse({}), Settings::Next::kRun);
  EXPECT_EQ(sample_.lease, 30);
  EXPECT_EQ(settings_.Text(),
            "listen = here  # default\n"
            "lease = 30  # default\n"
            "cert =  # default\n"
            "open = false  # default\n"
            "fill = auto  # default\n");
}

TEST_F(SettingsTest, FlagBeforeVariableBeforeFile) {
  const std::string file = File("lease = 1\nfill = copy\nlisten = a\nlisten = b\n");
  setenv("SAMPLE_LEASE", "2", 1);
  setenv("SAMPLE_LISTEN", "c,d", 1);
  EXPECT_EQ(*Parse({file, "--lease", "3"}), Settings::Next::kRun);
  EXPECT_EQ(sample_.lease, 3);
  EXPECT_THAT(sample_.listen, ElementsAre("c", "d"));
  EXPECT_EQ(sample_.fill, "copy");
  EXPECT_EQ(settings_.Text(),
            "listen = c,d  # SAMPLE_LISTEN\n"
            "lease = 3  # command line\n"
            "cert =  # default\n"
            "open = false  # default\n"
            "fill = copy  # " +
                PathAndLine(2) + "\n");
}

TEST_F(SettingsTest, AListMayHaveSeveralLines) {
  EXPECT_EQ(*Parse({File("listen = a\nlease = 1\nlisten = b,c\n")}), Settings::Next::kRun);
  EXPECT_THAT(sample_.listen, ElementsAre("a", "b", "c"));
  EXPECT_THAT(settings_.Text(),
              StartsWith("listen = a,b,c  # " + PathAndLine(1) + ", " + PathAndLine(3) + "\n"));
}

TEST_F(SettingsTest, WrongNumbersOfValuesAreNamed) {
  EXPECT_EQ(Refusal({"--lease=1", "--lease=2"}), "--lease: given twice; give it once");
  EXPECT_EQ(Refusal({"--fill=copy", "--fill=auto", "--fill=copy"}),
            "--fill: given 3 times; give it once");
  EXPECT_EQ(Refusal({"--cert"}), "--cert: needs a value");
}

TEST_F(SettingsTest, TheFileOfTheVariable) {
  File("lease = 4\n");
  setenv("SAMPLE_CONFIG", path_.c_str(), 1);
  EXPECT_EQ(*Parse({}), Settings::Next::kRun);
  EXPECT_EQ(sample_.lease, 4);
}

TEST_F(SettingsTest, TheSubcommandsArgumentsAreItsOwn) {
  EXPECT_EQ(*Parse({"run", "--config", File("lease = 4\n").substr(9), "x", "-v", "y"}),
            Settings::Next::kRun);
  EXPECT_EQ(sample_.lease, 4);
  EXPECT_TRUE(sample_.verbose);
  EXPECT_THAT(sample_.files, ElementsAre("x", "y"));
}

TEST_F(SettingsTest, EmptyIsNotGiven) {
  setenv("SAMPLE_LEASE", "", 1);
  EXPECT_EQ(*Parse({File("lease =\nfill =\n")}), Settings::Next::kRun);
  EXPECT_EQ(sample_.lease, 30);
  EXPECT_THAT(settings_.Text(), HasSubstr("fill = auto  # default\n"));
}

TEST_F(SettingsTest, FlagsAreTrueOrFalse) {
  for (const char* on : {"true", "ON", "yes", "1"}) {
    EXPECT_EQ(*Parse({File(std::string("open = ") + on)}), Settings::Next::kRun);
    EXPECT_TRUE(sample_.open) << on;
  }
  EXPECT_EQ(Refusal({File("\nopen = perhaps")}),
            PathAndLine(2) + ": open: must be true or false (got perhaps)");
}

TEST_F(SettingsTest, AFlagThatIsOffExcludesNothing) {
  setenv("SAMPLE_OPEN", "false", 1);
  EXPECT_EQ(*Parse({"--cert=c"}), Settings::Next::kRun);
  EXPECT_FALSE(sample_.open);
  EXPECT_THAT(settings_.Text(), HasSubstr("open = false  # SAMPLE_OPEN\n"));
}

TEST_F(SettingsTest, AFlagThatIsOnExcludes) {
  EXPECT_THAT(Refusal({File("open = true"), "--cert=c"}), HasSubstr("excludes"));
}

TEST_F(SettingsTest, WhatWasPrintedIsReadAlike) {
  ASSERT_EQ(*Parse({"--listen=a", "--listen=b", "--lease=0.25", "--open"}), Settings::Next::kRun);
  SampleApp again;
  Settings settings(again.app, "SAMPLE_CONFIG");
  const std::string file = File(settings_.Text());
  const char* argv[] = {"sample", file.c_str()};
  ASSERT_EQ(*settings.Parse(2, argv), Settings::Next::kRun);
  EXPECT_THAT(again.listen, ElementsAre("a", "b"));
  EXPECT_EQ(again.lease, 0.25);
  EXPECT_TRUE(again.open);
  EXPECT_EQ(again.cert_file, "");
  EXPECT_EQ(again.fill, "auto");
}

TEST_F(SettingsTest, ErrorsNameTheLine) {
  EXPECT_THAT(Refusal({File("lease = 1\nleese = 2\n")}),
              StartsWith(PathAndLine(2) + ": no such key (got leese)"));
  // Neither are these.
  for (const char* key : {"config", "print-config", "generate", "help", "version", "FILE"}) {
    EXPECT_THAT(Refusal({File(std::string(key) + " = 1")}), HasSubstr("no such key")) << key;
  }
  EXPECT_EQ(Refusal({File("lease = 1\nfill = copy\nlease = 2\n")}),
            PathAndLine(3) + ": lease was given in line 1 already");
  EXPECT_THAT(Refusal({File("\nlease = 61")}), StartsWith(PathAndLine(2) + ": --lease: "));
  EXPECT_THAT(Refusal({File("fill = slow")}), StartsWith(PathAndLine(1) + ": --fill: "));
}

TEST_F(SettingsTest, ErrorsNameTheVariable) {
  setenv("SAMPLE_LEASE", "soon", 1);
  EXPECT_THAT(Refusal({}), StartsWith("SAMPLE_LEASE: --lease: "));
  EXPECT_THAT(Refusal({"--lease=soon"}), StartsWith("--lease: "));
}

// Not the argument behind it.
TEST_F(SettingsTest, AListOfNothingNeedsAValue) {
  const std::string error = "--listen: needs a value (got ,)";
  EXPECT_EQ(Refusal({"--listen=,", "run"}), error);
  EXPECT_EQ(Refusal({"--listen", ",", "run"}), error);
  EXPECT_EQ(Refusal({File("lease = 1\nlisten = ,\n"), "run"}), PathAndLine(2) + ": " + error);
  setenv("SAMPLE_LISTEN", ",", 1);
  EXPECT_EQ(Refusal({"run"}), "SAMPLE_LISTEN: " + error);
}

// Of whatever kind the option is, in whatever way it is given; nor the flag behind it.
TEST_F(SettingsTest, AnEmptyValueOnTheCommandLineIsAnError) {
  for (const std::string name : {"--listen", "--lease", "--cert", "--fill", "--config", "--open"}) {
    EXPECT_EQ(Refusal({name + "=", "--print-config"}),
              name + ": needs a value; leave it out for none");
    if (name == "--open") continue;
    EXPECT_EQ(Refusal({name, "", "--print-config"}),
              name + ": needs a value; leave it out for none");
  }
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{"--size="}, {"--size", ""}}) {
    std::vector<std::string> arguments = {"run", "f"};
    arguments.insert(arguments.end(), given.begin(), given.end());
    EXPECT_EQ(Refusal(arguments), "--size: needs a value; leave it out for none");
  }
  // The same name, of another kind.
  sample_.app.add_subcommand("look", "Looks")->add_flag("--size");
  EXPECT_THAT(Refusal({"look", "--size", ""}), StartsWith("not expected: "));
}

TEST_F(SettingsTest, ListsMayHaveBlanks) {
  ASSERT_THAT(Parse({"--listen=a, b", "--listen", " c ,d"}), test::IsOk());
  EXPECT_THAT(sample_.listen, ElementsAre("a", "b", "c", "d"));
  ASSERT_THAT(Parse({File("listen = e, f\n")}), test::IsOk());
  EXPECT_THAT(sample_.listen, ElementsAre("e", "f"));
}

TEST_F(SettingsTest, WhatTheFileCannotSayIsNoValue) {
  const std::string error = "--cert: must be one line, without NUL bytes (got \"a\\";
  EXPECT_EQ(Refusal({"--cert=a\nb"}), error + "nb\")");
  setenv("SAMPLE_CERT", "a\nopen = true", 1);
  EXPECT_EQ(Refusal({}), "SAMPLE_CERT: " + error + "nopen = true\")");
  unsetenv("SAMPLE_CERT");
  EXPECT_EQ(Refusal({File(std::string("cert = a\0b", 10))}),
            PathAndLine(1) + ": " + error + "x00\\x62\")");
}

TEST_F(SettingsTest, ErrorsInAFileBeginWithTheirPlace) {
  EXPECT_THAT(Refusal({File("lease")}), StartsWith(PathAndLine(1) + ": must be"));
  EXPECT_THAT(Refusal({File("leese = 1")}), StartsWith(PathAndLine(1) + ": no such key"));
}

TEST_F(SettingsTest, AFileThatIsNotThere) {
  EXPECT_EQ(Refusal({"--config=/nonexistent"}),
            "--config: cannot read /nonexistent: No such file or directory");
  EXPECT_THAT(Refusal({"--config"}), HasSubstr("--config"));
}

TEST_F(SettingsTest, AFlagsValueIsTrueOrFalse) {
  EXPECT_THAT(Parse({"--open=on"}), test::IsOk());
  EXPECT_THAT(settings_.Text(), HasSubstr("open = true  # command line\n"));
}

TEST_F(SettingsTest, TheFirstArgumentThatIsNotExpectedIsNamed) {
  EXPECT_EQ(Refusal({"--bogus", "x"}), "not expected: --bogus");
}

TEST_F(SettingsTest, HelpInSpiteOfTheFile) {
  for (const char* flag : {"-h", "--help", "--version"}) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(*Parse({File("nonsense"), flag}), Settings::Next::kExit);
    EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("sample"));
  }
}

TEST_F(SettingsTest, PrintsInsteadOfRunning) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(*Parse({"--print-config", "--lease=1"}), Settings::Next::kExit);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), settings_.Text());
}

}  // namespace
}  // namespace gdnplan::settings
