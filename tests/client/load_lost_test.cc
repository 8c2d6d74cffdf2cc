// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load when its server goes.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/client/child_process.h"
#include "tests/client/load_tool.h"

namespace gdnplan::tool {
namespace {

using nlohmann::json;
using test::ChildProcess;
using test::LoadToolTest;
using test::NumStarts;
using ::testing::AllOf;
using ::testing::HasSubstr;

using LoadLostTest = LoadToolTest;

TEST_F(LoadLostTest, AServerThatGoesFailsTheRunAndEachStartIsCounted) {
  for (const char* transport : {"--transport=stream", "--transport=unary"}) {
    SCOPED_TRACE(transport);
    ChildProcess load(Command({"--duration=4", "--shape=decode=4", "--rate=1000", transport}));
    AwaitPlans();
    server_.process().Signal(SIGKILL);
    EXPECT_EQ(load.Wait(), 1);
    EXPECT_THAT(load.errors(), HasSubstr("the server was lost after "));
    const json result = Result();
    EXPECT_EQ(NumStarts(result), 4000u);
    EXPECT_EQ(result.at("seconds"), 4);
    const double lost = result.at("lost_after_s");
    EXPECT_GT(lost, 0);
    EXPECT_LT(lost, 4);
    // Of the time that it was there.
    EXPECT_DOUBLE_EQ(result.at("plans_per_s").get<double>(),
                     result.at("plans").get<double>() / lost);
    EXPECT_THAT(load.output(), HasSubstr("until all sessions were lost"));
    server_.Restart();
  }
}

TEST_F(LoadLostTest, AClosedLoopSaysWhenTheServerWasLost) {
  ChildProcess load(Command({"--duration=4", "--shape=decode=4", "--sessions=2"}));
  AwaitPlans();
  server_.process().Signal(SIGKILL);
  EXPECT_EQ(load.Wait(), 1);
  EXPECT_THAT(load.errors(), HasSubstr("the server was lost after "));
  const json result = Result();
  EXPECT_LT(result.at("lost_after_s"), 4);
  EXPECT_EQ(result.at("failures").size(), 2u);
  EXPECT_DOUBLE_EQ(result.at("plans_per_s"),
                   result.at("plans").get<double>() / result.at("lost_after_s").get<double>());
}

TEST_F(LoadLostTest, NobodyWaitsLongForAServerThatIsGone) {
  ChildProcess load(Command({"--duration=10000", "--shape=decode=4"}));
  AwaitPlans();
  server_.process().Signal(SIGKILL);
  EXPECT_EQ(load.Wait(), 1);
  EXPECT_LT(Result().at("seconds"), 1000);
}

TEST_F(LoadLostTest, PacedStepsOfAServerThatGoesAreCounted) {
  const std::string file =
      directory_.Write("trace.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,100000\n");
  ChildProcess load(Command(
      {"--trace=" + file, "--paced", "--step-ms=10", "--step-us-per-token=0", "--duration=4"}));
  AwaitPlans();
  server_.process().Signal(SIGKILL);
  EXPECT_EQ(load.Wait(), 1);
  EXPECT_EQ(NumStarts(Result()), 400u);
}

// One plan at the start, and the next long after the end.
const std::vector<std::vector<std::string>> kQuietLoads = {{"--rate=0.1", "--transport=stream"},
                                                           {"--rate=0.1", "--transport=unary"},
                                                           {"--paced", "--transport=stream"},
                                                           {"--paced", "--transport=unary"}};

class QuietLoadTest : public LoadLostTest {
 protected:
  // Until its only plan was made.
  std::unique_ptr<ChildProcess> Start(const std::vector<std::string>& how) const {
    std::vector<std::string> arguments = {"--duration=3", "--max-errors=0"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    arguments.push_back(how.front() == "--paced" ? "--trace=" + trace_ : "--shape=decode=4");
    auto load = std::make_unique<ChildProcess>(Command(arguments));
    AwaitPlans(0);
    return load;
  }

 private:
  const std::string trace_ =
      directory_.Write("gap.csv", "arrival_s,prompt_tokens,output_tokens\n0,10,1\n1000,10,1\n");
};

TEST_F(QuietLoadTest, AServerThatGoesWhileNothingIsDueIsMissed) {
  for (const std::vector<std::string>& how : kQuietLoads) {
    SCOPED_TRACE(how.front() + " " + how.back());
    const auto load = Start(how);
    server_.process().Signal(SIGKILL);
    EXPECT_EQ(load->Wait(), 1);
    EXPECT_THAT(load->errors(), AllOf(HasSubstr("the server was lost after "),
                                      HasSubstr(" at " + server_.unix_address() + ")")));
    const json result = Result();
    const double lost = result.at("lost_after_s");
    EXPECT_LT(lost, 3);
    EXPECT_DOUBLE_EQ(result.at("plans_per_s"), result.at("plans").get<double>() / lost);
    EXPECT_EQ(result.at("failures").size(), 1u);
    server_.Restart();
  }
}

TEST_F(QuietLoadTest, OneThatRestartedIsMissedToo) {
  const auto load = Start(kQuietLoads.front());
  server_.Restart();
  EXPECT_EQ(load->Wait(), 1);
  EXPECT_THAT(load->errors(), HasSubstr("the server was lost after "));
}

TEST_F(QuietLoadTest, OneThatStandsStillIsNotLost) {
  const auto load = Start(kQuietLoads.front());
  server_.process().Signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  server_.process().Signal(SIGCONT);
  EXPECT_EQ(load->Wait(), 0) << load->errors();
}

TEST_F(QuietLoadTest, UnlessItStandsStillToTheEnd) {
  const auto load = Start({"--rate=0.1", "--timeout=2"});
  server_.process().Signal(SIGSTOP);
  EXPECT_EQ(load->Wait(), 1);
  EXPECT_THAT(load->errors(), HasSubstr("DEADLINE_EXCEEDED: "));
  EXPECT_EQ(Result().at("lost_after_s"), Result().at("seconds"));
}

}  // namespace
}  // namespace gdnplan::tool
