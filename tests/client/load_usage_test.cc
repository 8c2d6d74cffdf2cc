// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load called wrongly, and its files.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/client/child_process.h"
#include "tests/client/load_tool.h"

namespace gdnplan::tool {
namespace {

using test::LoadToolTest;
using test::ProgramResult;
using test::RunProgram;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using LoadFilesTest = LoadToolTest;

TEST_F(LoadFilesTest, FilesAreOpenedBeforeTheRun) {
  const std::string text = directory_.Write("text", "as it was");
  const auto expect = [&](const std::vector<std::string>& arguments, int status,
                          const std::string& error) {
    std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "--server=unix:/nowhere.sock",
                                        "--connect-timeout=0", "load"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.status, status) << error;
    EXPECT_THAT(result.errors, HasSubstr(error));
  };
  expect({"--html=/nowhere/x"}, 1, "--html: cannot write /nowhere/x: No such file or directory");
  expect({"--csv=/"}, 1, "--csv: cannot write /: Is a directory");
  expect({"--mismatch-dir=/nowhere"}, 1, "--mismatch-dir: cannot write to /nowhere: No such file");
  expect({"--mismatch-dir=" + text}, 1, "Not a directory");
  expect({"--json=" + text, "--html=" + directory_.path() + "/./text"}, 2,
         "--html: " + directory_.path() + "/./text is the file of --json, too; give another");
  // A run that fails leaves them as they were.
  expect({"--json=" + text, "--csv=" + directory_.path() + "/new"}, 1, "/nowhere.sock");
  EXPECT_EQ(std::filesystem::file_size(text), 9u);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/new"));
}

// A closed stream's number is the next file's.
TEST_F(LoadFilesTest, WithoutStandardStreamsTheirLinesAreInNoFile) {
  std::vector<std::string> command = Command({"--steps=10", "--shape=decode=1"});
  command.insert(command.begin(), {"/bin/sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"});
  EXPECT_EQ(RunProgram(command).status, 0);
  EXPECT_EQ(Result().at("plans"), 10);  // and nothing but the object is in the file
}

TEST_F(LoadFilesTest, ALimitOfFilesSizesIsAnErrorOfTheFile) {
  std::vector<std::string> command = Command({"--steps=10", "--shape=decode=1"});
  command.insert(command.begin(), {"/bin/bash", "-c", "ulimit -f 4 && exec \"$@\"", "bash"});
  const ProgramResult result = RunProgram(command);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors, HasSubstr("--json: cannot write " + json_file_ + ": File too large"));
}

// Without a server: the flags alone are wrong.
TEST(LoadToolUsageTest, WrongUsageIsStatus2AndNamesTheFlag) {
  const test::TemporaryDirectory directory;
  const std::string trace =
      directory.Write("trace.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,1\n1,9000000,1\n");
  const std::string small =
      directory.Write("small.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,1\n");
  const std::string of_small = "--trace=" + small;
  const struct {
    std::vector<std::string> arguments;
    std::string text;
  } kCases[] = {
      {{"--paced"}, "--paced: needs --trace"},
      {{"--paced", of_small, "--rate=1"}, "--paced: not with a rate"},
      {{"--poisson"}, "--poisson: needs --rate"},
      {{"--rate=5", "--concurrency=1"}, "--concurrency: is of closed loops"},
      {{"--rate=5", "--sweep=rate=1,2"}, "--rate: not with --sweep"},
      {{"--concurrency=2", "--sweep=concurrency=1,2"}, "--concurrency: not with --sweep"},
      {{"--poll", "--transport=unary"}, "--poll: is of streams"},
      {{"--max-windows=4"}, "--max-windows: needs --stable"},
      {{"--once"}, "--once: needs --trace"},
      {{"--groups=4"}, "--groups: needs --trace"},
      {{"--speed=4", "--shape=decode=1"}, "--speed: needs --trace"},
      {{of_small, "--sessions=2"}, "--sessions: must be at most 1, the requests of " + small},
      {{of_small, "--shape=decode=1"}, "--shape: not with --trace"},
      {{of_small, "--once", "--warmup=1"}, "--warmup: not with --once"},
      {{of_small, "--once", "--stable=5"}, "--stable: not with --once"},
      {{of_small, "--prefix-families=4"}, "--prefix-families: needs --prefix-rate"},
      {{of_small, "--acceptance-rate=0.5"}, "--acceptance-rate: needs --num-speculative-tokens"},
      {{"--verify=none", "--mismatch-dir=/tmp"}, "--mismatch-dir: not with --verify=none"},
      {{"--sweep=rate=1", "--html=x"}, "--html: not with --sweep"},
      {{"--compare", "a", "b", "--rate=1"}, "--rate: not with --compare"},
      {{"--concurrency=2", "--transport=unary"}, "--concurrency: must be in 1..1"},
      {{"--connections=2"}, "--connections: must be in 1..1"},
      {{"--sweep=steps=1"}, "--sweep: must be"},
      {{"--sweep=concurrency=1.5"},
       "--sweep: concurrency must be a whole number in 1..16000 (got 1.5)"},
      {{"--sweep=rate=1,nan"}, "--sweep: rate must be a number in 0.000001..10000000 (got nan)"},
      {{"--sweep=rate=0.5,0"}, "--sweep: rate must be a number in 0.000001..10000000 (got 0)"},
      {{"--sweep=rate="}, "--sweep: rate must be"},
      {{"--sweep", ""}, "--sweep: needs a value; leave it out for none"},
      {{"--shape=nonsense"}, "--shape \"nonsense\""},
      {{"--shape=spec=4"}, "--shape \"spec=4\": has speculative rows and no draft tokens"},
      {{of_small, "--step-ms=-1"}, "--step-ms: must be in 0"},
      {{of_small, "--speed=nan"}, "--speed: must be in 1e-06..1e+06 (got nan); see"},
      {{of_small, "--speed=4x"}, "--speed: must be a number (got 4x)"},
      {{of_small, "--speed=1e999"}, "--speed: is far out of range (got 1e999)"},
      {{of_small, "--groups=1.5"}, "--groups: must be a whole number (got 1.5)"},
      {{of_small, "--groups=-3"}, "--groups: must be in 1..256 (got -3)"},
      {{of_small, "--block-size=0"}, "--block-size: must be in 1"},
      {{of_small, "--mamba-cache-mode=all"},
       "--mamba-cache-mode: must be one of none,align (got all)"},
      {{"--trace=" + trace},
       "--trace: " + trace + ": line 3: with 9000000 prompt and 1 output tokens needs"},
      {{"--json=", "--rate=1"}, "--json: needs a value; leave it out for none"},
      {{"--rate=1e-10"}, "--rate: must be at least 1e-06 (got 1e-10)"},
      {{"--rate=nan"}, "--rate: must be a number in 0..10000000 (got nan)"},
      {{"--duration=nan"},
       "--duration: must be a number in 0.1..86400 (got nan); see gdnplan load --help\n"},
      {{"--duration=inf"}, "--duration: must be a number"},
      {{"--warmup=nan"}, "--warmup: must be a number"},
      {{"--stable=nan"}, "--stable: must be a number"},
      {{"--max-p99-us=nan"}, "--max-p99-us: must be a number"},
      {{"--max-p99-us=-1"}, "--max-p99-us: must be a number in 0"},
      {{"--min-rate=-1"}, "--min-rate: must be a number in 0"},
      {{"--max-errors=-1"}, "--max-errors: must be a whole number in 0"},
      {{"--steps=-1"}, "--steps: must be a whole number in 0"},
      {{"--steps=18446744073709551616"}, "--steps: must be a whole number in 0"},
      {{"--seed=-1"}, "--seed: must be a whole number in 0"},
      {{"--sessions=1e2"}, "--sessions: must be a whole number in 1..1000 (got 1e2)"},
      // An option of every command is in the help of none.
      {{"--timeout=nan"},
       "--timeout: must be a number in 0.001..3600 (got nan); see gdnplan --help\n"},
      {{"--rate=1", "--rate=2"}, "--rate: given twice; give it once; see gdnplan load --help\n"},
      {{"--rate=1", "--rate=2", "--rate=3"}, "--rate: given 3 times; give it once; see"},
      {{"--timeout=1", "--timeout=2"},
       "--timeout: given twice; give it once; see gdnplan --help\n"},
      {{"--rate"}, "--rate: needs a value; see gdnplan load --help\n"},
      {{"--compare"}, "--compare: needs 2 values; see gdnplan load --help\n"},
      {{"--compare", "a"}, "--compare: needs 2 values (got 1); see"},
      {{"--compare", "a", "b", "c"}, "--compare: needs 2 values (got 3); see"},
      {{"--paced"}, "--paced: needs --trace, which says when; see gdnplan load --help\n"},
      {{"--bogus"}, "not expected: --bogus; see gdnplan load --help\n"},
  };
  for (const auto& [arguments, text] : kCases) {
    std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "--server=unix:/nowhere.sock", "load"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.status, 2) << text;
    EXPECT_THAT(result.errors, HasSubstr("gdnplan: " + text));
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(LoadFilesTest, WhatCannotBeReadIsAFailureThatNamesFlagAndFile) {
  const std::string text = directory_.Write("text", "a,b\n1,2\n");
  const auto expect = [](const std::vector<std::string>& arguments, const std::string& error) {
    std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "load"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.status, 1) << error;
    EXPECT_THAT(result.errors, StartsWith("gdnplan: " + error));
  };
  expect({"--trace=/nowhere.csv"}, "--trace: cannot read /nowhere.csv: No such file");
  expect({"--trace=" + text}, "--trace: " + text + ":1: arrival_s: no such column");
  expect({"--compare", "/nowhere", text}, "--compare: cannot read /nowhere: No such file");
  expect({"--compare", text, text}, "--compare: " + text + ": not valid JSON");
}

// Each of these would lose what it reads.
TEST_F(LoadFilesTest, NoFileThatIsReadIsWritten) {
  const std::string trace =
      directory_.Write("trace.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,1\n");
  const std::string secret = directory_.Write("secret", "very");
  const std::string config = directory_.Write("config", "token-file = " + secret + "\n");
  const std::string symbolic = directory_.path() + "/symbolic";
  const std::string hard = directory_.path() + "/hard";
  std::filesystem::create_symlink(secret, symbolic);
  std::filesystem::create_hard_link(trace, hard);
  const struct {
    std::vector<std::string> arguments;
    std::string output;
    std::string file;
    std::string input;
  } kCases[] = {
      {{"--trace=" + trace}, "--json", trace, "--trace"},
      {{"--trace=" + trace}, "--csv", hard, "--trace"},
      {{"--trace=" + hard}, "--html", directory_.path() + "/./trace.csv", "--trace"},
      {{"--trace=" + trace, "--sweep=rate=1,2"}, "--json", trace, "--trace"},
      {{"--config=" + config}, "--csv", config, "--config"},
      {{"--config=" + config}, "--csv", symbolic, "--token-file"},
      {{"--token-file=" + symbolic}, "--html", secret, "--token-file"},
      {{"--tls-ca=" + secret}, "--json", secret, "--tls-ca"},
      {{"--tls-ca=" + config, "--tls-cert=" + secret, "--tls-key=" + trace},
       "--json",
       secret,
       "--tls-cert"},
      {{"--tls-ca=" + config, "--tls-cert=" + secret, "--tls-key=" + trace},
       "--json",
       hard,
       "--tls-key"},
  };
  const auto contents = [&] {
    std::vector<uintmax_t> sizes;
    for (const auto& path : {trace, secret, config})
      sizes.push_back(std::filesystem::file_size(path));
    return sizes;
  };
  const auto before = contents();
  for (const auto& [arguments, output, file, input] : kCases) {
    std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "--server=" + server_.unix_address(),
                                        "load", "--duration=0.1", "--warmup=0"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.push_back(output + "=" + file);
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.status, 2) << output << ' ' << input;
    EXPECT_THAT(result.errors, HasSubstr(output + ": " + file + " is the file of " + input +
                                         ", which is read; give another"));
    EXPECT_EQ(contents(), before);
  }
}

TEST_F(LoadFilesTest, NeedsNoDirectoryToWriteTo) {
  std::vector<std::string> command = {"/usr/bin/env", "-C", "/"};
  if (geteuid() == 0) {
    command.insert(command.end(),
                   {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  }
  command.insert(command.end(),
                 {GDNPLAN_TOOL_PATH, "--server=unix:/nowhere.sock", "--connect-timeout=0", "load"});
  const ProgramResult result = RunProgram(command);
  if (result.status > 2) GTEST_SKIP() << "nobody may run the tool here: " << result.errors;
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors, HasSubstr("cannot reach a gdnplan server at unix:/nowhere.sock"));
}

TEST_F(LoadFilesTest, SpecialFilesMayBeGivenTwice) {
  const ProgramResult result =
      RunProgram({GDNPLAN_TOOL_PATH, "--server=" + server_.unix_address(), "load", "--warmup=0",
                  "--steps=5", "--json=/dev/null", "--csv=/dev/null", "--html=/dev/null"});
  EXPECT_EQ(result.status, 0) << result.errors;
}

TEST_F(LoadFilesTest, StandardOutputGoesOnBehindTheReport) {
  // It is a file here, which another opening would write over.
  const ProgramResult result =
      RunProgram({GDNPLAN_TOOL_PATH, "--server=" + server_.unix_address(), "load", "--warmup=0",
                  "--steps=5", "--json=/dev/stdout", "--csv=/dev/stdout", "--html=/dev/stderr"});
  ASSERT_EQ(result.status, 0) << result.errors;
  EXPECT_THAT(result.errors, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(result.output, StartsWith("throughput"));
  const size_t begin = result.output.find("\n{") + 1;
  const size_t end = result.output.find("\n}\n") + 3;
  EXPECT_EQ(nlohmann::json::parse(result.output.substr(begin, end - begin)).at("plans"), 5);
  EXPECT_THAT(result.output.substr(end), StartsWith("low_us,high_us"));
}

}  // namespace
}  // namespace gdnplan::tool
