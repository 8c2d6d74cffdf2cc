// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server's addresses, standard services and shutdown.
#include "server/server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "tests/server/health_testing.h"
#include "tests/server/service_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {
namespace {

using server::Server;
using server::ServerOptions;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() { socket_ = (root_ / "run" / "x.sock").string(); }

  static absl::Status Ask(const std::string& address) {
    const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    ServiceClient client(channel);
    return client.Call(&v1::Planner::Stub::GetServerInfo, v1::GetServerInfoRequest()).status();
  }

  static HealthStatus::ServingStatus Health(Server& server) {
    return CheckHealth(server.InProcessChannel(), "").value_or(HealthStatus::UNKNOWN);
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  std::string socket_;
};

TEST_F(ServerTest, ListensOnSeveralAddresses) {
  ServerOptions options;
  options.listen = {"unix:" + socket_, "127.0.0.1:0"};
  const auto server = StartHosts(2, options);
  ASSERT_EQ(server->addresses().size(), 2u);
  EXPECT_EQ(server->addresses()[0], "unix:" + socket_);
  EXPECT_THAT(server->addresses()[1], MatchesRegex("127.0.0.1:[1-9][0-9]*"));
  EXPECT_EQ(server->StartupLine(), "gdnplan-server 0.1.0 serving on " + server->addresses()[0] +
                                       ", " + server->addresses()[1] + ", devices: host, host:1");
  for (const std::string& address : server->addresses()) EXPECT_THAT(Ask(address), IsOk());
  struct stat info {};
  ASSERT_EQ(stat(socket_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0660u);
}

TEST_F(ServerTest, ABusyAddressIsAnError) {
  ServerOptions options;
  options.listen = {"unix:" + socket_, "127.0.0.1:0"};
  const auto first = StartHosts(1, options);
  ServerOptions same_port;
  same_port.listen = {first->addresses()[1]};
  EXPECT_THAT(Server::Start(same_port),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(first->addresses()[1])));
  ServerOptions same_socket;
  same_socket.listen = {"unix:" + socket_};
  EXPECT_THAT(Server::Start(same_socket),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another server")));
  EXPECT_THAT(Ask(first->addresses()[0]), IsOk());
}

TEST_F(ServerTest, RefusesBadOptions) {
  ServerOptions options;
  options.listen = {"nonsense"};
  EXPECT_THAT(Server::Start(options), StatusIs(absl::StatusCode::kInvalidArgument));
  options.listen = {};
  options.device = "nonsense";
  EXPECT_THAT(Server::Start(options), StatusIs(absl::StatusCode::kInvalidArgument));
}

// As CUDA calls do where a GPU hangs.
TEST_F(ServerTest, KnowsWhichThreadHangs) {
  const auto device = std::make_shared<FakeDevice>("fake");
  device->complete = false;
  const auto server = Server::Start({}, server::Boot::Create().value(), {device});
  ASSERT_THAT(server, IsOk());
  EXPECT_THAT((*server)->CheckThreads(std::chrono::seconds(20)), IsOk());
  ServiceClient client((*server)->InProcessChannel());
  const auto session = client.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  std::thread waiter([&] {
    v1::PlanRequest request;
    request.set_session_id(session->session_id());
    request.set_completion(v1::COMPLETION_WAIT);
    Fill(SampleBatch(), *request.mutable_batch());
    EXPECT_THAT(client.Call(&v1::Planner::Stub::Plan, request), IsOk());
  });
  ASSERT_TRUE(Eventually([&] { return !device->writes().empty(); }));
  EXPECT_THAT((*server)->CheckThreads(std::chrono::seconds(20)), IsOk());
  device->hang = true;
  // It may have been asked before.
  ASSERT_TRUE(Eventually([&] { return !(*server)->CheckThreads(milliseconds(50)).ok(); }));
  EXPECT_THAT((*server)->CheckThreads(milliseconds(50)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the thread of waiting plans")));
  device->ready = 1;
  device->hang = false;
  waiter.join();
  EXPECT_THAT((*server)->CheckThreads(std::chrono::seconds(20)), IsOk());
  (*server)->registry().fatal_error().Note(plan::MakeSticky(absl::InternalError("lost")));
  EXPECT_THAT((*server)->CheckThreads(milliseconds(50)),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("lost")));
}

TEST_F(ServerTest, GoesOnWithoutMemory) {
  const auto device = std::make_shared<FakeDevice>("fake");
  const auto server = Server::Start({}, server::Boot::Create().value(), {device});
  ASSERT_THAT(server, IsOk());
  ServiceClient client((*server)->InProcessChannel());
  device->no_memory = true;
  EXPECT_THAT(client.Open(SampleRequest()),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("memory")));
  EXPECT_EQ((*server)->registry().size(), 0u);
  device->no_memory = false;
  const auto first = client.Open(SampleRequest());
  const auto second = client.Open(SampleRequest());
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  device->no_memory = true;
  EXPECT_THAT(client.Plan(first->session_id(), SampleBatch()),
              StatusIs(absl::StatusCode::kResourceExhausted));
  device->no_memory = false;
  // What was written of it, nobody knows.
  EXPECT_THAT(client.Plan(first->session_id(), SampleBatch()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(client.Plan(second->session_id(), SampleBatch()), IsOk());
}

TEST_F(ServerTest, ShutdownLeavesNothingBehind) {
  ServerOptions options;
  options.listen = {"unix:" + socket_};
  const auto server = StartHosts(1, options);
  ServiceClient client(server->InProcessChannel());
  const auto session = client.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  const server::MemoryHandle arena =
      server::PosixSharedMemoryHandle{session->arenas(0).memory().posix_shared_memory().name()};
  EXPECT_TRUE(Exists(arena));
  server->Shutdown(milliseconds(100));
  EXPECT_FALSE(Exists(arena));
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "run"));
}

TEST_F(ServerTest, ShutdownAnswersWaitingCalls) {
  const auto server = StartHosts(1);
  ServiceClient client(server->InProcessChannel());
  v1::OpenSessionRequest request = SampleRequest();
  request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  request.set_slot_wait_ms(60'000);
  const auto session = client.Open(request);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(client.Plan(session->session_id(), SampleBatch()), IsOk());
  std::thread waiter([&] { EXPECT_FALSE(client.Plan(session->session_id(), SampleBatch()).ok()); });
  std::this_thread::sleep_for(milliseconds(50));
  server->Shutdown(milliseconds(50));
  waiter.join();
}

TEST_F(ServerTest, ALostContextTurnsHealthOff) {
  const auto device = std::make_shared<FakeDevice>("fake");
  std::vector<std::string> texts;
  ServerOptions options;
  options.on_fatal_error = [&](const absl::Status& error) { texts.emplace_back(error.message()); };
  const auto server = Server::Start(options, server::Boot::Create().value(), {device});
  ASSERT_THAT(server, IsOk());
  ServiceClient client((*server)->InProcessChannel());
  std::vector<std::string> sessions;
  for (int i = 0; i < 3; ++i) {
    const auto session = client.Open(SampleRequest());
    ASSERT_THAT(session, IsOk());
    sessions.push_back(session->session_id());
  }

  device->fail_writes = true;
  EXPECT_THAT(client.Plan(sessions[0], SampleBatch()), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(client.Plan(sessions[0], SampleBatch()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Health(**server), HealthStatus::SERVING);
  EXPECT_THAT(texts, IsEmpty());
  device->fail_writes = false;
  EXPECT_THAT(client.Plan(sessions[1], SampleBatch()), IsOk());

  device->fail_writes = device->sticky = true;
  for (int i = 1; i < 3; ++i) {
    EXPECT_THAT(client.Plan(sessions[static_cast<size_t>(i)], SampleBatch()),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("the fake's write failed")));
  }
  EXPECT_EQ(Health(**server), HealthStatus::NOT_SERVING);
  EXPECT_THAT(texts, ElementsAre("the fake's write failed"));
}

TEST_F(ServerTest, LimitsMessages) {
  ServerOptions options;
  options.max_message_bytes = 64 << 10;
  const auto server = StartHosts(1, options);
  ServiceClient client(server->InProcessChannel());
  const auto session = client.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  json::OwnedBatch large = SampleBatch();
  large.seq_lens.resize(32 << 10);
  EXPECT_THAT(client.Plan(session->session_id(), large),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace gdnplan::test
