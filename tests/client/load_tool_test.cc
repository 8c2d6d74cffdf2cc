// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load against a server.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
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
using ::testing::HasSubstr;

class LoadToolTest : public ::testing::Test {
 protected:
  std::vector<std::string> Command(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "--server=" + server_.unix_address(),
                                        "load", "--warmup=0", "--json=" + json_file_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }
  ProgramResult Run(const std::vector<std::string>& arguments) const {
    return RunProgram(Command(arguments));
  }
  json Result() const { return json::parse(std::ifstream(json_file_)); }

  test::TemporaryDirectory directory_;
  LiveServer server_;
  const std::string json_file_ = directory_.path() + "/result.json";
};

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
    EXPECT_GE(written.at("plans"), 100);
    EXPECT_EQ(written.at("verified"), written.at("plans"));
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
  EXPECT_GE(Result().at("plans"), 2000);
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

TEST_F(LoadToolTest, AServerThatGoesIsCountedNotHidden) {
  ChildProcess load(Command({"--duration=4", "--shape=decode=4", "--rate=100"}));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  server_.process().Signal(SIGKILL);
  EXPECT_EQ(load.Wait(), 0) << load.errors();
  EXPECT_GT(Result().at("errors").size(), 0u);
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
    EXPECT_GE(run.at("plans"), 50);
  }
}

TEST_F(LoadToolTest, RefusesWhatCannotBe) {
  for (const auto& [arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--paced"}, "paced: needs --trace"},
           {{"--poisson"}, "poisson: needs --rate"},
           {{"--concurrency=2", "--transport=unary"}, "concurrency: must be in 1..1"},
           {{"--connections=2"}, "connections: must be in 1..1"},
           {{"--sweep=steps=1"}, "sweep: must be"},
           {{"--shape=nonsense"}, "shape"},
           {{"--trace=/nowhere.csv"}, "/nowhere.csv"}}) {
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.status, 1) << arguments.front();
    EXPECT_THAT(result.errors, HasSubstr(text));
  }
}

}  // namespace
}  // namespace gdnplan::tool
