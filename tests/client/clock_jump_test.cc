// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Setting the system's clock moves no lease, no deadline and no plan: all of these are of the
// monotonic one.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/eventually.h"
#include "tests/testing/shifted_clock.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::ChildProcess;
using test::Eventually;
using test::IsOk;
using test::LiveServer;
using test::ShiftedClock;
using test::StatusIs;
using ::testing::HasSubstr;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr std::chrono::seconds kJumps[] = {std::chrono::hours(24 * 500), 0s,
                                           -std::chrono::hours(24 * 500), 0s};

class ClockJumpTest : public ::testing::Test {
 protected:
  std::vector<std::string> Shifted(const std::vector<std::string>& command) const {
    std::vector<std::string> all = {"/usr/bin/env"};
    for (const std::string& variable : clock_.environment()) all.push_back(variable);
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  void JumpAround() {
    for (const std::chrono::seconds shift : kJumps) {
      clock_.Set(shift);
      std::this_thread::sleep_for(300ms);
    }
  }

  ShiftedClock clock_;
};

// Else the tests below would show nothing.
TEST_F(ClockJumpTest, ProgramsSeeIt) {
  clock_.Set(std::chrono::hours(24 * 365 * 200));
  EXPECT_GE(std::stoi(test::RunProgram(Shifted({"/bin/date", "+%Y"})).output), 2200);
}

TEST_F(ClockJumpTest, LeasesStay) {
  LiveServer server("host", {"--lease=60", "--grace=60"}, clock_.environment());
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  auto worker = client->AttachSession(session->id());
  ASSERT_THAT(worker, IsOk());
  JumpAround();
  EXPECT_THAT(session->Plan(Batch().view()), IsOk());
  EXPECT_THAT(worker->Heartbeat(), IsOk());
}

TEST_F(ClockJumpTest, LeasesLapseAllTheSame) {
  for (const std::chrono::seconds shift : {kJumps[0], kJumps[2]}) {
    LiveServer server("host", {"--lease=1", "--grace=0.2"}, clock_.environment());
    const auto client = Client::Connect(server.unix_address());
    ASSERT_THAT(client, IsOk());
    ChildProcess owner({GDNPLAN_TOOL_PATH, "--server=" + server.unix_address(), "load",
                        "--transport=unary", "--duration=3600", "--shape=decode=8"});
    ASSERT_TRUE(Eventually([&] { return client->GetServerInfo()->num_sessions == 1; }));
    owner.Signal(SIGKILL);
    clock_.Set(shift);
    EXPECT_TRUE(Eventually([&] { return client->GetServerInfo()->num_sessions == 0; }));
    clock_.Set(0s);
  }
}

TEST_F(ClockJumpTest, AWaitForASlotIsAsLongAsItWasAskedToBe) {
  LiveServer server("host", {}, clock_.environment());
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  auto session =
      client->OpenSession(LiveConfig(), {.slot_reuse = SlotReuse::kConsumed, .slot_wait = 1000ms});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(session->Plan(Batch().view()), IsOk());
  for (const std::chrono::seconds shift : kJumps) {
    std::thread later([&] {
      std::this_thread::sleep_for(100ms);
      clock_.Set(shift);
    });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(session->Plan(Batch().view()),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("slot")));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 1000ms);
    later.join();
  }
}

// Server and tool, both.
TEST_F(ClockJumpTest, PlansGoOnAndAreRight) {
  LiveServer server("host", {}, clock_.environment());
  ChildProcess load(
      Shifted({GDNPLAN_TOOL_PATH, "--server=" + server.unix_address(), "load", "--verify=all",
               "--max-errors=0", "--duration=3", "--sessions=2", "--shape=decode=8"}));
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  ASSERT_TRUE(Eventually([&] { return client->GetServerInfo()->num_sessions == 2; }));
  JumpAround();
  JumpAround();
  EXPECT_EQ(load.Wait(), 0) << load.errors();
}

}  // namespace
}  // namespace gdnplan::client
