// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load against a server.
#include "tests/client/load_tool.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"

namespace gdnplan::tool {
namespace {

using nlohmann::json;
using test::ChildProcess;
using test::LiveServer;
using test::LoadToolTest;
using test::NumStarts;
using test::ProgramResult;
using test::RunProgram;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(LoadToolTest, ChecksEveryPlanOfEveryTransportAndPace) {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--transport=unary"},
        {"--transport=stream"},
        {"--transport=stream", "--poll", "--sessions=2", "--concurrency=6", "--connections=1"},
        {"--rate=500"},
        {"--rate=500", "--poisson", "--sessions=3"},
        {"--rate=300", "--transport=unary"}}) {
    std::vector<std::string> arguments = {"--steps=100",
                                          "--duration=60",
                                          "--verify=all",
                                          "--shape=decode=16",
                                          "--shape=spec=8,k=3,groups=2",
                                          "--max-errors=0"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    SCOPED_TRACE(how.back());
    const ProgramResult result = Run(arguments);
    ASSERT_EQ(result.status, 0) << result.errors << result.output;
    EXPECT_EQ(result.errors, "");
    const json written = Result();
    EXPECT_EQ(written.at("plans"), 100);
    EXPECT_EQ(written.at("verified"), 100);
    EXPECT_EQ(written.at("mismatches"), 0);
  }
}

TEST_F(LoadToolTest, ServesATrace) {
  std::string trace = "arrival_s,prompt_tokens,output_tokens\n";
  for (int i = 0; i < 40; ++i) {
    trace += std::to_string(i * 0.01) + "," + std::to_string(1 + i * 97 % 3000) + "," +
             std::to_string(1 + i % 13) + "\n";
  }
  const std::string file = directory_.Write("trace.csv", trace);
  // It ends by itself.
  const ProgramResult result =
      Run({"--trace=" + file, "--once", "--duration=600", "--verify=all",
           "--num-speculative-tokens=2", "--sessions=2", "--max-errors=0"});
  ASSERT_EQ(result.status, 0) << result.errors << result.output;
  const json written = Result();
  EXPECT_GT(written.at("plans"), 20);
  EXPECT_EQ(written.at("verified"), written.at("plans"));
  // It has too few steps for this and begins again.
  const ProgramResult longer =
      Run({"--trace=" + file, "--steps=2000", "--duration=60", "--verify=all", "--max-errors=0"});
  ASSERT_EQ(longer.status, 0) << longer.errors << longer.output;
  EXPECT_EQ(Result().at("plans"), 2000);
}

TEST_F(LoadToolTest, AShortTraceCountsFromItsFirstStep) {
  // A request of n output tokens takes n steps.
  const std::string trace = "arrival_s,prompt_tokens,output_tokens\n";
  const std::string one = directory_.Write("one.csv", trace + "0,10,1\n");
  const std::string three = directory_.Write("three.csv", trace + "0,10,3\n0,20,2\n");
  for (const auto& [file, plans] : {std::pair(one, 1), {three, 3}}) {
    for (int i = 0; i < 5; ++i) {
      const ProgramResult result = Run({"--trace=" + file, "--once"});
      ASSERT_EQ(result.status, 0) << result.errors;
      EXPECT_EQ(Result().at("plans"), plans);
    }
  }
}

TEST_F(LoadToolTest, StepsAreExact) {
  for (const int steps : {1, 7}) {
    const ProgramResult result =
        Run({"--steps=" + std::to_string(steps), "--sessions=2", "--concurrency=5"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(Result().at("plans"), steps);
  }
}

TEST_F(LoadToolTest, WritesItsFiles) {
  const std::string csv = directory_.path() + "/latency.csv";
  const std::string html = directory_.path() + "/page.html";
  const ProgramResult result = Run({"--steps=50", "--csv=" + csv, "--html=" + html});
  ASSERT_EQ(result.status, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("p99"), HasSubstr("plans")));
  std::string header;
  std::getline(std::ifstream(csv) >> std::ws, header);
  EXPECT_EQ(header, "low_us,high_us,count,cumulative_percent");
  EXPECT_GT(std::filesystem::file_size(html), 1000u);
  const ProgramResult compared =
      RunProgram({GDNPLAN_TOOL_PATH, "load", "--compare", json_file_, json_file_});
  EXPECT_EQ(compared.status, 0) << compared.errors;
  EXPECT_THAT(compared.output, HasSubstr("p99"));
}

TEST_F(LoadToolTest, AStoppedServerShowsInTheLatencyFromTheIntendedStart) {
  constexpr std::chrono::seconds kStop{2};
  ChildProcess load(Command({"--rate=200", "--duration=6", "--shape=decode=4", "--verify=none"}));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  server_.process().Signal(SIGSTOP);
  std::this_thread::sleep_for(kStop);
  server_.process().Signal(SIGCONT);
  ASSERT_EQ(load.Wait(), 0) << load.errors();
  const json latency = Result().at("latency").at("us");
  // Of 1,200 starts 400 were meant to be made while it stood still; the first of them waited
  // longest.
  EXPECT_GE(latency.at("max"), 1.8e6);
  EXPECT_GE(latency.at("p99.9"), 1.7e6);
  EXPECT_GE(latency.at("p90"), 0.5e6);
}

TEST_F(LoadToolTest, ARateThatCannotBeKeptShowsInTheStartsThatWereSkipped) {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--sessions=1"}, {"--sessions=3"}, {"--transport=unary"}}) {
    std::vector<std::string> arguments = {"--rate=1e7", "--duration=1", "--shape=decode=4"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.status, 0) << "which is what a sweep looks for";
    EXPECT_THAT(result.errors, HasSubstr("starts were skipped: the rate was not kept"));
    EXPECT_EQ(NumStarts(Result()), 10'000'000u);
    EXPECT_EQ(Result().at("num_errors"), 0);
  }
}

TEST(LoadToolStreamTest, ARefusedStreamFailsTheRunAndNamesTheSession) {
  const LiveServer server("host", {"--max-streams=1"});
  for (const char* warm_up : {"--warmup=0", "--warmup=0.5"}) {
    const ProgramResult result =
        RunProgram({GDNPLAN_TOOL_PATH, "--server=" + server.unix_address(), "load", "--sessions=2",
                    "--duration=1", "--shape=decode=4", warm_up});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors, AllOf(HasSubstr(" got no plan: RESOURCE_EXHAUSTED: "),
                                     HasSubstr("session "), HasSubstr("--max-streams")));
  }
}

TEST(LoadToolStreamTest, TheServerSaysHowManyAreUnderWay) {
  const LiveServer server("host", {"--max-plans-in-flight=8", "--max-slots=4"});
  const std::vector<std::string> command = {GDNPLAN_TOOL_PATH,
                                            "--server=" + server.unix_address(),
                                            "load",
                                            "--warmup=0",
                                            "--shape=decode=4",
                                            "--steps=20"};
  std::vector<std::string> open = command;
  open.push_back("--rate=1000");
  const ProgramResult result = RunProgram(open);
  EXPECT_EQ(result.status, 0) << result.errors;
  std::vector<std::string> closed = command;
  closed.push_back("--concurrency=5");
  const ProgramResult refused = RunProgram(closed);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--concurrency: must be in 1..4"));
}

TEST_F(LoadToolTest, GatesDecideTheExitStatus) {
  EXPECT_EQ(Run({"--steps=20", "--max-p99-us=1e9", "--min-rate=0.001", "--max-errors=0"}).status,
            0);
  const ProgramResult slow = Run({"--steps=20", "--max-p99-us=0.001"});
  EXPECT_EQ(slow.status, 3);
  EXPECT_THAT(slow.errors, HasSubstr("gate missed: p99"));
  EXPECT_EQ(Run({"--steps=20", "--min-rate=1e12"}).status, 3);
}

TEST_F(LoadToolTest, SweepsPrintARowEach) {
  const ProgramResult result =
      Run({"--steps=50", "--duration=20", "--shape=decode=4", "--sweep=concurrency=1,2,4"});
  ASSERT_EQ(result.status, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("concurrency"));
  const json written = Result();
  ASSERT_EQ(written.at("runs").size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const json& run = written.at("runs")[i];
    EXPECT_EQ(run.at("parameters").at("concurrency"), 1 << i);
    EXPECT_EQ(run.at("plans"), 50);
  }
  const ProgramResult slow = Run({"--steps=20", "--sweep=concurrency=1,2", "--min-rate=1e11"});
  EXPECT_EQ(slow.status, 3);
  EXPECT_THAT(slow.errors, AllOf(HasSubstr("concurrency=1: gate missed: "),
                                 HasSubstr("concurrency=2: gate missed: ")));
}

TEST_F(LoadToolTest, ASweepThatMeasuredNothingReplacesNothing) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) /
                            ("gdnplan-sweep-" + std::to_string(getpid()) + ".json"))
                               .string();
  std::ofstream(file) << "old";
  const ProgramResult result = RunProgram({GDNPLAN_TOOL_PATH, "--server=unix:/nowhere.sock", "load",
                                           "--sweep=rate=0.5,1", "--json=" + file});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors, HasSubstr("rate=0.5: "));
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(std::filesystem::file_size(file), 3u);
  std::filesystem::remove(file);
}

TEST_F(LoadToolTest, AShapeTooLargeForTheServerIsRefusedAtOnce) {
  const ProgramResult result = Run({"--shape=spec=65536,k=64,groups=256"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("--shape: a batch of 4.1 GiB is over the 64.0 MiB"),
                                   HasSubstr("--max-message-bytes")));
}

TEST_F(LoadToolTest, MoreSessionsThanTheServerHasAreRefusedAtOnce) {
  const ProgramResult result = Run({"--sessions=65", "--shape=decode=1"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(
      result.errors,
      HasSubstr("--sessions: must be in 1..64, the server's --max-sessions (got 65); ask for "
                "fewer, or raise that"));
}

TEST_F(LoadToolTest, ASessionIsAsLargeAsTheServerAllows) {
  const LiveServer small("host",
                         {"--max-num-seqs=16", "--max-num-batched-tokens=64", "--max-groups=2"});
  const auto run = [&](const std::string& shape) {
    return RunProgram({GDNPLAN_TOOL_PATH, "--server=" + small.unix_address(), "load", "--warmup=0",
                       "--steps=5", "--shape=" + shape});
  };
  const ProgramResult fits = run("decode=16");
  EXPECT_EQ(fits.status, 0) << fits.errors;
  const ProgramResult rows = run("decode=17");
  EXPECT_EQ(rows.status, 2);
  EXPECT_THAT(rows.errors, HasSubstr("--shape: its session has 17, and the server allows 16 (its "
                                     "--max-num-seqs); ask for less"));
  const ProgramResult tokens = run("prefill=1x65");
  EXPECT_EQ(tokens.status, 2);
  EXPECT_THAT(tokens.errors, HasSubstr("(its --max-num-batched-tokens)"));
  // Named by the tool's flag and by the server's.
  const ProgramResult groups = RunProgram(
      {GDNPLAN_TOOL_PATH, "--server=" + small.unix_address(), "load", "--warmup=0",
       "--max-num-seqs=16", "--max-num-batched-tokens=64", "--groups=3",
       "--trace=" +
           directory_.Write("trace.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,1\n")});
  EXPECT_EQ(groups.status, 2);
  EXPECT_THAT(groups.errors, HasSubstr("--groups: its session has 3, and the server allows 2 (its "
                                       "--max-groups)"));
}

TEST_F(LoadToolTest, ASessionForWhichNoRoomIsLeftIsNamed) {
  const auto client = client::Client::Connect(server_.unix_address());
  plan::PlanConfig small;
  small.max_num_seqs = small.max_num_batched_tokens = 1;
  small.groups.resize(1);
  const auto other = client->OpenSession(small);
  ASSERT_TRUE(other.ok()) << other.status();
  const ProgramResult result = Run({"--sessions=64", "--shape=decode=1"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors, HasSubstr("session 64 of 64: sessions: 64 are open"));
}

TEST_F(LoadToolTest, AnInterruptEndsTheMeasurement) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    SCOPED_TRACE(signal);
    ChildProcess load(Command({"--duration=10000", "--shape=decode=4"}));
    AwaitPlans();
    load.Signal(signal);
    EXPECT_EQ(load.Wait(), 0) << load.errors();
    EXPECT_GT(Result().at("plans"), 0);
    std::filesystem::remove(json_file_);
  }
  std::vector<std::string> command = Command({"--shape=decode=4"});
  std::replace(command.begin(), command.end(), std::string("--warmup=0"),
               std::string("--warmup=10000"));
  ChildProcess warming(command);
  AwaitPlans();
  warming.Signal(SIGINT);
  EXPECT_EQ(warming.Wait(), 1);
  EXPECT_THAT(warming.errors(), HasSubstr("interrupted in the warm-up: nothing was measured"));
}

}  // namespace
}  // namespace gdnplan::tool
