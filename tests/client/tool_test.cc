// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The gdnplan program as scripts use it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/client/child_process.h"

namespace gdnplan::tool {
namespace {

using nlohmann::json;
using test::ChildProcess;
using test::LiveServer;
using test::ProgramResult;
using test::RunProgram;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGolden[] = GDNPLAN_GOLDEN_DIR;

std::string GoldenLine(const std::string& file, int number) {
  std::ifstream stream(std::string(kGolden) + "/" + file);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(stream, line);
  return line;
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n') + 1;
  return text.substr(0, end).substr(text.rfind('\n', end - 1) + 1);
}

MATCHER(IsOneLine, "is one line that starts with \"gdnplan: \"") {
  return std::count(arg.begin(), arg.end(), '\n') == 1 && arg.ends_with('\n') &&
         arg.starts_with("gdnplan: ");
}

class ToolTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<LiveServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  static std::vector<std::string> Command(std::vector<std::string> arguments,
                                          const std::string& server = server_->unix_address()) {
    arguments.insert(arguments.begin(), {GDNPLAN_TOOL_PATH, "--server=" + server});
    return arguments;
  }
  static ProgramResult Run(const std::vector<std::string>& arguments,
                           const std::string& input = "") {
    return RunProgram(Command(arguments), input);
  }

  test::TemporaryDirectory directory_;
  static inline std::unique_ptr<LiveServer> server_;
};

TEST_F(ToolTest, VerifyPassesAllGoldenCases) {
  for (const std::string& address : {server_->unix_address(), server_->tcp_address()}) {
    SCOPED_TRACE(address);
    for (const std::vector<std::string>& options : {std::vector<std::string>{},
                                                    {"--slots=3"},
                                                    {"--no-attach"},
                                                    {"--attach", "-v"},
                                                    {"--stream"},
                                                    {"--stream", "--poll", "--slots=3"}}) {
      std::vector<std::string> arguments = {"verify", kGolden};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const ProgramResult result = RunProgram(Command(arguments, address));
      EXPECT_EQ(result.status, 0) << result.errors;
      EXPECT_EQ(LastLine(result.output), "266 passed, 0 failed") << result.output;
      EXPECT_EQ(result.errors, "");
    }
  }
}

TEST_F(ToolTest, VerifyReportsAPlantedWrongValue) {
  json golden = json::parse(GoldenLine("groups_mixed.jsonl", 1));
  golden["name"] = "planted";
  json& value = golden["expected"][1]["spec_state_indices_tensor"]["data"][1];
  value = value.get<int>() + 1;
  const std::string file = directory_.Write(
      "planted.jsonl", GoldenLine("groups_mixed.jsonl", 2) + "\n" + golden.dump() + "\n");
  const ProgramResult result = Run({"verify", file});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(LastLine(result.output), "1 passed, 1 failed");
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("FAILED " + file + " planted\n"),
                    HasSubstr("  spec_state_indices[1] of group 1: got 47, want 48\n")));
  const ProgramResult machine = Run({"verify", file, "--json"});
  EXPECT_EQ(machine.status, 1);
  const json report = json::parse(machine.output);
  EXPECT_EQ(report["passed"], 1);
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["cases"][1]["name"], "planted");
  EXPECT_EQ(report["cases"][1]["passed"], false);
  EXPECT_EQ(report["cases"][1]["mismatches"].size(), 1u);
}

TEST_F(ToolTest, VerifyChecksTheRegather) {
  json golden;
  for (int line = 1;
       !golden.contains("update_block_table") || golden["update_block_table"].is_null(); ++line) {
    const std::string text = GoldenLine("groups_spec.jsonl", line);
    ASSERT_FALSE(text.empty()) << "no case with a re-gather";
    golden = json::parse(text);
  }
  json& expected = golden["update_block_table"]["expected"];
  json& value = expected["spec_state_indices_tensor"].is_null()
                    ? expected["non_spec_state_indices_tensor"]["data"][0]
                    : expected["spec_state_indices_tensor"]["data"][0];
  value = value.get<int>() + 1;
  const ProgramResult result = Run({"verify", directory_.Write("case.jsonl", golden.dump())});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("after re-gather: "));
  EXPECT_EQ(LastLine(result.output), "0 passed, 1 failed");
}

TEST_F(ToolTest, WhatCannotBePrintedIsAnError) {
  for (const std::string what : {"--help", "--version", "--print-config", "info"}) {
    std::vector<std::string> command = Command({what});
    command.insert(command.begin(), {"/bin/sh", "-c", "exec \"$@\" >/dev/full", "sh"});
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.status, 1) << what;
    EXPECT_EQ(result.errors, "gdnplan: cannot write to stdout\n");
  }
}

TEST_F(ToolTest, VerifyCountsWhatItCannotRead) {
  const std::string broken = directory_.Write("broken.jsonl", "{\"name\": 1\n");
  const std::string good = std::string(kGolden) + "/traps.jsonl";
  ProgramResult result = Run({"verify", broken, good, directory_.path() + "/missing.jsonl"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(LastLine(result.output), "22 passed, 2 failed");
  EXPECT_THAT(result.output, HasSubstr("broken.jsonl:1"));
  const std::string empty = directory_.path() + "/empty";
  std::filesystem::create_directory(empty);
  result = Run({"verify", empty});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("has no *.jsonl"));
}

TEST_F(ToolTest, PlanPrintsWhatItRead) {
  const ProgramResult result = Run({"plan", std::string(kGolden) + "/groups_mixed.jsonl"});
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("staging   NONE\n"), HasSubstr("num_prefills                  4\n"),
            HasSubstr("[3, 2]"), HasSubstr("33 47 48 10 35 23\n"), HasSubstr("absent: none\n")));
  EXPECT_THAT(result.output, ::testing::Not(HasSubstr("\033"))) << "no colours in pipes";
}

TEST_F(ToolTest, PlanJsonHoldsTheGoldenValues) {
  const json golden = json::parse(GoldenLine("groups_mixed.jsonl", 3));
  for (const std::vector<std::string>& input :
       {std::vector<std::string>{"plan", std::string(kGolden) + "/groups_mixed.jsonl", "--line=3"},
        {"plan", "-"}}) {
    // Over lines as well: a document by itself.
    const ProgramResult result = Run(
        [&] {
          std::vector<std::string> arguments = input;
          arguments.push_back("--json");
          return arguments;
        }(),
        golden.dump(2));
    ASSERT_EQ(result.status, 0) << result.errors;
    const json report = json::parse(result.output);
    EXPECT_EQ(report["counts"]["num_prefills"], golden["expected"][0]["num_prefills"]);
    int compared = 0;
    for (const json& tensor : report["tensors"]) {
      const std::string name = tensor["name"];
      const bool states = name == "spec_state_indices" || name == "non_spec_state_indices";
      const std::string member = name + (states ? "_tensor" : "");
      if (name == "chunk_indices" || !golden["expected"][0].contains(member)) continue;
      for (size_t group = 0; group < tensor["groups"].size(); ++group) {
        const json& want = golden["expected"][group][member];
        if (want.is_null() || want.contains("fill")) continue;
        EXPECT_EQ(tensor["shape"], want["shape"]) << name;
        EXPECT_EQ(tensor["groups"][group], want["data"]) << name;
        ++compared;
      }
    }
    EXPECT_GE(compared, 8);
    for (const json& absent : report["absent"]) EXPECT_TRUE(absent.is_string());
  }
}

TEST_F(ToolTest, InfoShowsTheServer) {
  const ProgramResult text = Run({"info"});
  EXPECT_EQ(text.status, 0) << text.errors;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("version "), HasSubstr("devices (1)"), HasSubstr("sessions (0)")));
  ASSERT_EQ(Run({"plan", std::string(kGolden) + "/groups_mixed.jsonl"}).status, 0);
  EXPECT_THAT(Run({"info"}).output, HasSubstr(" host\n"));
  const ProgramResult machine = Run({"info", "--json"});
  const json report = json::parse(machine.output);
  EXPECT_EQ(report["devices"][0]["id"], "host");
  EXPECT_EQ(report["devices"][0]["fill_mode"], "none");
  EXPECT_EQ(report["devices"][0]["mps"], false);
  EXPECT_GE(report["devices"][0]["fills"]["host"], 1);
  EXPECT_EQ(report["devices"][0]["fills"]["kernel"], 0);
  EXPECT_EQ(report["address"], server_->unix_address());
  EXPECT_EQ(report["sessions"].size(), 0u);
  EXPECT_THAT(text.output, AllOf(HasSubstr("poll adaptive\n"),
                                 HasSubstr("lapse after 30.0 s, 2.0 s grace, 0 sessions lapsed\n"),
                                 HasSubstr("16 plans in flight"), HasSubstr("65536 rows")));
  EXPECT_EQ(report["poll"], "adaptive");
  EXPECT_EQ(report["lease_ms"], 30'000);
  EXPECT_EQ(report["grace_ms"], 2'000);
  EXPECT_EQ(report["num_leases_lapsed"], 0);
  EXPECT_EQ(report["limits"]["max_plans_in_flight"], 16);
  EXPECT_EQ(report["limits"]["max_session_bytes"], 0);
  EXPECT_GT(report["limits"]["max_streams"], 0);
}

TEST_F(ToolTest, HealthIsForProbes) {
  for (const std::string& address : {server_->unix_address(), server_->tcp_address()}) {
    const ProgramResult result = RunProgram(Command({"health"}, address));
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.output, "SERVING\n");
  }
  const test::TemporaryDirectory directory;
  const std::string token = directory.Write("token", "secret");
  std::filesystem::permissions(token, std::filesystem::perms::owner_read);
  const LiveServer guarded("host", {"--token-file=" + token});
  EXPECT_EQ(RunProgram(Command({"info"}, guarded.unix_address())).status, 1);
  EXPECT_EQ(RunProgram(Command({"health"}, guarded.unix_address())).output, "SERVING\n");
  // Which reads no token that nobody asks for.
  EXPECT_EQ(RunProgram(Command({"health", "--token-file=/nonexistent"})).status, 0);
}

TEST_F(ToolTest, HealthWaitsForAServer) {
  const std::string address = "unix:" + directory_.path() + "/late.sock";
  ChildProcess health(Command({"health", "--connect-timeout=60"}, address));
  test::Process server({GDNPLAN_SERVER_PATH, "--device=host", "--listen=" + address});
  EXPECT_EQ(health.Wait(), 0) << health.errors();
}

TEST_F(ToolTest, ErrorsAreOneLineWithTheRightStatus) {
  const struct {
    std::vector<std::string> arguments;
    int status;
    const char* text;
  } kCases[] = {
      {{}, 2, "health, info, load, plan or verify must be given; see gdnplan --help\n"},
      {{"bogus"}, 2, "bogus; see gdnplan --help\n"},
      {{"plan"}, 2, "FILE is required; see gdnplan plan --help\n"},
      {{"plan", "x", "--slots=0"}, 2, "--slots"},
      {{"plan", "x", "--line=0"}, 2, "--line"},
      {{"info", "--bogus"}, 2, "--bogus; see gdnplan info --help\n"},
      {{"verify"}, 2, "FILE"},
      {{"verify", "x", "--poll"}, 2, "--stream"},
      {{"info", "--timeout=nan"}, 2, "--timeout: must be a number in 0.001..3600 (got nan)"},
      {{"info", "--connect-timeout=-1"}, 2, "--connect-timeout"},
      {{"info", "--tls-cert=x"}, 2, "--tls-cert requires --tls-"},
      {{"--server=127.0.0.1:1", "info", "--tls-ca=/nowhere"}, 1, "--tls-ca: cannot read /nowhere"},
      {{"info", "--token-file=/"}, 1, "--token-file: cannot read /: it is no regular file"},
      {{"plan", "/nonexistent"}, 1, "cannot read /nonexistent: No such file"},
      {{"plan", kGolden}, 1, "is a directory"},
      {{"plan", "-"}, 1, "stdin is empty"},
      {{"--server=foo", "info"},
       2,
       "--server: must be unix:PATH, HOST:PORT or [IPV6]:PORT (got foo)"},
      {{"--server=/x.sock", "health"}, 2, "--server: must be unix:PATH"},
      {{"info", "--generate=fish"}, 2, "fish"},
      {{"plan", std::string(kGolden) + "/traps.jsonl", "--line=99"},
       1,
       "has no line 99; it has 22"},
      {{"plan", std::string(kGolden) + "/traps.jsonl", "--device=gpu"}, 1, "gpu"},
      {{"--server=unix:/nonexistent.sock", "info"}, 1, "unix:/nonexistent.sock"},
      {{"--server=unix:/nonexistent.sock", "health"}, 1, "No such file or directory"},
  };
  for (const auto& [arguments, status, text] : kCases) {
    SCOPED_TRACE(text);
    std::vector<std::string> command = Command(arguments);
    if (!arguments.empty() && arguments[0].starts_with("--server"))
      command.erase(command.begin() + 1);
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.status, status);
    EXPECT_THAT(result.errors, AllOf(IsOneLine(), HasSubstr(text)));
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(ToolTest, ABadBatchNamesFileAndField) {
  json golden = json::parse(GoldenLine("traps.jsonl", 1));
  golden["batch"]["seq_lens"][0] = "x";
  const std::string file = directory_.Write("bad.json", golden.dump());
  const ProgramResult result = Run({"plan", file});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors,
              AllOf(IsOneLine(), HasSubstr(file + ":1"), HasSubstr("batch.seq_lens[0]")));
}

TEST_F(ToolTest, HelpAndVersion) {
  EXPECT_EQ(RunProgram({GDNPLAN_TOOL_PATH, "--version"}).output, "gdnplan " GDNPLAN_VERSION "\n");
  const ProgramResult help = RunProgram({GDNPLAN_TOOL_PATH, "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("info"), HasSubstr("plan"), HasSubstr("verify"),
                                 HasSubstr("GDNPLAN_SERVER")));
  EXPECT_THAT(RunProgram({GDNPLAN_TOOL_PATH, "plan", "--help"}).output, HasSubstr("\"tensors\""));
}

TEST_F(ToolTest, SeveralClientsAtOnce) {
  std::vector<std::unique_ptr<ChildProcess>> clients;
  for (int i = 0; i < 4; ++i) {
    const std::string& address = i % 2 == 0 ? server_->unix_address() : server_->tcp_address();
    clients.push_back(
        std::make_unique<ChildProcess>(Command({"verify", kGolden, "--slots=2"}, address)));
  }
  for (const auto& client : clients) {
    EXPECT_EQ(client->Wait(), 0) << client->errors();
    EXPECT_EQ(LastLine(client->output()), "266 passed, 0 failed");
  }
}

TEST(ToolDevicesTest, VerifyReadsEveryDevice) {
  const LiveServer server("host:2");
  const ProgramResult result =
      RunProgram({GDNPLAN_TOOL_PATH, "--server=" + server.unix_address(), "verify",
                  std::string(kGolden) + "/traps.jsonl", "--device=host", "--device=host:1"});
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_EQ(LastLine(result.output), "22 passed, 0 failed") << result.output;
}

}  // namespace
}  // namespace gdnplan::tool
