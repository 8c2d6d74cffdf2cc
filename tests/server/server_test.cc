// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server's addresses, standard services and shutdown.
#include "server/server.h"

#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "tests/server/service_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::Server;
using server::ServerOptions;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gdnplan-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    socket_ = (root_ / "run" / "x.sock").string();
  }
  ~ServerTest() override { std::filesystem::remove_all(root_); }

  static absl::Status Ask(const std::string& address) {
    const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    ServiceClient client(channel);
    return client.Call(&v1::Planner::Stub::GetServerInfo, v1::GetServerInfoRequest()).status();
  }

  // The standard health service's answer, whose message is one enum field.
  static std::string Health(Server& server, const std::string& service) {
    grpc::ClientContext context;
    const std::string name =
        service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
    const grpc::Slice slice(name);
    grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                           grpc::internal::RpcMethod::NORMAL_RPC);
    const auto channel = server.InProcessChannel();
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
            channel.get(), method, &context, request, &response);
    if (!status.ok()) return status.error_message();
    grpc::Slice answer;
    EXPECT_TRUE(response.TrySingleSlice(&answer).ok());
    return {reinterpret_cast<const char*>(answer.begin()), answer.size()};
  }

  std::filesystem::path root_;
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

TEST_F(ServerTest, HealthIsServing) {
  const auto server = StartHosts(1);
  const std::string serving = {0x08, 0x01};
  EXPECT_EQ(Health(*server, ""), serving);
  EXPECT_EQ(Health(*server, "gdnplan.v1.Planner"), serving);
  EXPECT_NE(Health(*server, "other"), serving);
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
