// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Who keeps a session alive, and what becomes of it when they are gone.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "gdnplan/client/client.h"
#include "gdnplan/client/lasting_session.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::ChildProcess;
using test::Eventually;
using test::IsOk;
using test::LiveServer;
using test::StatusIs;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// Whether the shared memory object has its name.
bool Exists(const ArenaInfo& arena) {
  return std::filesystem::exists("/dev/shm" + std::get<PosixSharedMemory>(arena.memory).name);
}

constexpr char kServerVariable[] = "GDNPLAN_TEST_SERVER";

// No test: what another process does, which the tests start and kill. It opens a session with a
// stream, prints the session's id and waits for its death.
TEST(LeaseLiveTest, DISABLED_Owner) {
  const auto client = Client::Connect(getenv(kServerVariable));
  ASSERT_THAT(client, IsOk());
  const auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  auto stream = session->OpenStream();
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Plan(Batch().view()), IsOk());
  std::cout << "session " << session->id() << std::endl;
  pause();
}

// The id that the owner prints. Empty: it did not.
std::string SessionIdOf(const ChildProcess& owner) {
  std::string id;
  Eventually([&] {
    const std::string output = owner.output();
    const size_t at = output.find("session ");
    if (at == std::string::npos || output.size() < at + 8 + 32) return false;
    id = output.substr(at + 8, 32);
    return true;
  });
  return id;
}

TEST(LeaseLiveTest, AnIdleOwnerAndAnIdleWorkerKeepTheirs) {
  LiveServer server("host", {"--lease=4"});
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->info().lease, 4s);
  auto worker = client->AttachSession(session->id());
  ASSERT_THAT(worker, IsOk());
  std::this_thread::sleep_for(6s);
  EXPECT_THAT(session->Plan(Batch().view()), IsOk());
  EXPECT_THAT(worker->Heartbeat(), IsOk());
}

TEST(LeaseLiveTest, AStreamThatEndsIsNoLostOwner) {
  LiveServer server("host", {"--lease=3600", "--grace=1.5"});
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  const auto ended = client->OpenSession(LiveConfig());
  const auto cancelled = client->OpenSession(LiveConfig());
  ASSERT_THAT(ended, IsOk());
  ASSERT_THAT(cancelled, IsOk());
  {
    auto stream = ended->OpenStream();
    ASSERT_THAT(stream, IsOk());
    EXPECT_THAT(stream->Plan(Batch().view()), IsOk());
    auto other = cancelled->OpenStream();
    ASSERT_THAT(other, IsOk());
    EXPECT_THAT(other->Plan(Batch().view()), IsOk());
    other->Cancel();
  }
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(client->GetServerInfo()->num_sessions, 2u);
}

TEST(LeaseLiveTest, NothingIsLeftOfAKilledOwner) {
  LiveServer server("host", {"--lease=3600", "--grace=0.2"});
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  for (int i = 0; i < 5; ++i) {
    ChildProcess owner({GDNPLAN_TOOL_PATH, "--server=" + server.unix_address(), "load",
                        "--sessions=3", "--duration=3600", "--shape=decode=8"});
    ASSERT_TRUE(Eventually([&] { return client->GetServerInfo()->num_sessions == 3; }));
    // In the midst of its plans.
    ASSERT_TRUE(Eventually([&] {
      const std::vector<SessionSummary> sessions = client->ListSessions().value();
      for (const SessionSummary& session : sessions) {
        if (session.num_plans < 10) return false;
      }
      return true;
    }));
    owner.Signal(SIGKILL);
    EXPECT_TRUE(Eventually([&] { return client->GetServerInfo()->num_sessions == 0; }));
  }
  const std::string prefix = "gdnplan-" + client->GetServerInfo()->boot_id;
  EXPECT_TRUE(Eventually([&] {
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      const std::string name = entry.path().filename();
      // The probe is the server's own.
      if (name.rfind(prefix, 0) == 0 && name != prefix + "-probe") return false;
    }
    return true;
  }));
}

TEST(LeaseLiveTest, AWorkerDoesNotKeepADeadOwnersSession) {
  LiveServer server("host", {"--lease=3600", "--grace=0.5"});
  setenv(kServerVariable, server.unix_address().c_str(), 1);
  ChildProcess owner({std::filesystem::read_symlink("/proc/self/exe"),
                      "--gtest_filter=LeaseLiveTest.DISABLED_Owner",
                      "--gtest_also_run_disabled_tests"});
  const std::string id = SessionIdOf(owner);
  ASSERT_NE(id, "") << owner.output();
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  auto worker = client->AttachSession(id);
  ASSERT_THAT(worker, IsOk());
  auto follower = worker->Follow();
  ASSERT_THAT(follower, IsOk());
  owner.Signal(SIGKILL);
  EXPECT_THAT(follower->Next(60s), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(worker->Heartbeat(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(client->GetServerInfo()->num_sessions, 0u);
  // The worker still has it mapped, but only for the grace.
  EXPECT_TRUE(Eventually([&] { return !Exists(worker->info().arenas.front()); }));
}

TEST(LastingSessionTest, OpensANewSessionOnTheRestartedServer) {
  LiveServer server;
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  std::vector<std::string> reopened;
  auto session = LastingSession::Open(
      *client, LiveConfig(),
      {.on_reopened = [&](const Session& now) { reopened.push_back(now.id()); }});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(session->Plan(Batch().view()), IsOk());
  const std::string first = session->session().id();
  const std::string first_boot = session->session().info().boot_id;
  EXPECT_EQ(session->generation(), 1u);
  EXPECT_TRUE(reopened.empty());
  server.Restart();
  const auto plan = session->Plan(Batch().view());
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->id(), 1u) << "of the new session";
  EXPECT_EQ(plan->Tensor<int32_t>("chunk_indices")->at(2, 1), 2) << "in its own memory";
  EXPECT_EQ(session->generation(), 2u);
  EXPECT_THAT(reopened, ::testing::ElementsAre(session->session().id()));
  EXPECT_NE(session->session().id(), first);
  EXPECT_NE(session->session().info().boot_id, first_boot);
}

TEST(LastingSessionTest, WaitsForAServerThatIsGone) {
  LiveServer server;
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  auto session = LastingSession::Open(*client, LiveConfig());
  ASSERT_THAT(session, IsOk());
  server.process().Signal(SIGKILL);
  server.process().Wait();
  absl::StatusOr<PlanView> plan = absl::UnknownError("not asked yet");
  std::thread planner([&] { plan = session->Plan(Batch().view()); });
  std::this_thread::sleep_for(300ms);
  server.Restart();
  planner.join();
  EXPECT_THAT(plan, IsOk());
  EXPECT_EQ(session->generation(), 2u);
}

TEST(LastingSessionTest, PatienceEnds) {
  LiveServer server;
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  auto session = LastingSession::Open(*client, LiveConfig(), {.patience = 100ms});
  ASSERT_THAT(session, IsOk());
  server.process().Signal(SIGKILL);
  server.process().Wait();
  EXPECT_THAT(session->Plan(Batch().view()), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(LastingSessionTest, RefusalsAreTheCallers) {
  LiveServer server;
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(LastingSession::Open(*client, {}), StatusIs(absl::StatusCode::kInvalidArgument));
  auto session = LastingSession::Open(*client, LiveConfig());
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(session->Plan({}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(session->generation(), 1u);
  // A session that somebody closed is opened anew.
  ASSERT_THAT(session->session().Close(), IsOk());
  EXPECT_THAT(session->Reopen(), IsOk());
  EXPECT_THAT(session->Plan(Batch().view()), IsOk());
  EXPECT_EQ(session->generation(), 2u);
}

}  // namespace
}  // namespace gdnplan::client
