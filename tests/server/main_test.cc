// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The program itself: its one line, signals, sockets, exit status.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "server/cuda_devices.h"
#include "tests/server/main_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/certificates.h"
#include "tests/testing/notify_socket.h"
#include "tests/testing/process.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(MainTest, ServesUntilASignal) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Process server(Command());
    EXPECT_EQ(server.ReadLine(), Line());
    const server::MemoryHandle arena = OpenSession();
    EXPECT_TRUE(Exists(arena));
    server.Signal(signal);
    EXPECT_EQ(server.Wait(), 0);
    EXPECT_EQ(server.RestOfOutput(), "");
    EXPECT_THAT(server.ErrorOutput(), HasSubstr("shutting down"));
    EXPECT_FALSE(Exists(arena));
    EXPECT_TRUE(std::filesystem::is_empty(root_ / "run"));
  }
}

TEST_F(MainTest, TellsItsSupervisor) {
  const NotifySocket socket;
  Process server(Command(), {"NOTIFY_SOCKET=" + socket.address(), "WATCHDOG_USEC=100000"});
  EXPECT_EQ(socket.Receive(), "READY=1\nSTATUS=" + Line());
  EXPECT_EQ(server.ReadLine(), Line());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(socket.Receive(), "WATCHDOG=1");
  server.Signal(SIGTERM);
  std::string last;
  do last = socket.Receive();
  while (last == "WATCHDOG=1");
  EXPECT_EQ(last, "STOPPING=1");
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_EQ(socket.Receive(std::chrono::milliseconds(0)), "");
}

TEST_F(MainTest, ServesThoughItsSupervisorIsNone) {
  Process server(Command(), {"NOTIFY_SOCKET=nonsense"});
  EXPECT_EQ(server.ReadLine(), Line());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_THAT(server.ErrorOutput(), HasSubstr("NOTIFY_SOCKET"));
}

TEST_F(MainTest, EndsThoughAClientTakesNothingAnyMore) {
  Process server(Command({"--drain=0.1"}));
  ASSERT_EQ(server.ReadLine(), Line());
  ServiceClient client = Client();
  const auto session = client.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  // A follower that reads its first message and then does not even look at its socket.
  const auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  const auto stub = v1::Planner::NewStub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  v1::WatchPlansRequest request;
  request.set_session_id(session->session_id());
  const auto watch = stub->AsyncWatchPlans(&context, request, &queue, nullptr);
  void* tag = nullptr;
  bool ok = false;
  v1::WatchPlansResponse response;
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  watch->Read(&response, nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  // More than a socket holds.
  for (int i = 0; i < 4000; ++i) {
    ASSERT_THAT(client.Plan(session->session_id(), SampleBatch()), IsOk());
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "run"));
  context.TryCancel();
  grpc::Status status;
  watch->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
}

TEST_F(MainTest, PlansInFlightFinish) {
  Process server(Command());
  ASSERT_EQ(server.ReadLine(), Line());
  v1::OpenSessionRequest request = SampleRequest();
  request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  request.set_slot_wait_ms(60'000);
  ServiceClient client = Client();
  const auto session = client.Open(request);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(client.Plan(session->session_id(), SampleBatch()), IsOk());
  std::thread waiter(
      [&] { EXPECT_THAT(client.Plan(session->session_id(), SampleBatch()), IsOk()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server.Signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ClientArena(
      server::PosixSharedMemoryHandle{session->arenas(0).memory().posix_shared_memory().name()},
      plan::ArenaLayout::Create(SampleConfig(), 1).value())
      .Consume(0, 1);
  waiter.join();
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(MainTest, ASecondSignalEndsItAtOnce) {
  Process server(Command({"--drain=60"}));
  ASSERT_EQ(server.ReadLine(), Line());
  v1::OpenSessionRequest request = SampleRequest();
  request.set_slot_reuse(v1::SLOT_REUSE_CONSUMED);
  request.set_slot_wait_ms(60'000);
  ServiceClient client = Client();
  const auto session = client.Open(request);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(client.Plan(session->session_id(), SampleBatch()), IsOk());
  // Holds the shutdown up.
  std::thread waiter([&] { EXPECT_FALSE(client.Plan(session->session_id(), SampleBatch()).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(std::chrono::milliseconds(300)), -1);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 128 + SIGTERM);
  waiter.join();
}

TEST_F(MainTest, ASecondServerLeavesTheFirstAlone) {
  Process first(Command());
  ASSERT_EQ(first.ReadLine(), Line());
  Process second(Command());
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_EQ(second.RestOfOutput(), "");
  EXPECT_THAT(second.ErrorOutput(), HasSubstr("process " + std::to_string(first.pid())));
  EXPECT_TRUE(Exists(OpenSession()));
}

TEST_F(MainTest, TakesOverAfterACrash) {
  server::MemoryHandle lost;
  {
    Process server(Command());
    ASSERT_EQ(server.ReadLine(), Line());
    lost = OpenSession();
    EXPECT_TRUE(Exists(lost));
    server.Signal(SIGKILL);
    EXPECT_EQ(server.Wait(), 128 + SIGKILL);
  }
  EXPECT_FALSE(std::filesystem::is_empty(root_ / "run"));
  Process next(Command());
  EXPECT_EQ(next.ReadLine(), Line());
  EXPECT_TRUE(Exists(OpenSession()));
  EXPECT_FALSE(Exists(lost));
}

TEST_F(MainTest, WhatCannotBePrintedIsAnError) {
  for (const std::string flag : {"--help", "--version", "--print-config", "--generate=man"}) {
    Process server({"/bin/sh", "-c", "exec \"$@\" >/dev/full", "sh", GDNPLAN_SERVER, flag});
    EXPECT_EQ(server.Wait(), 1) << flag;
    EXPECT_EQ(server.ErrorOutput(), "gdnplan-server: cannot write to stdout\n");
  }
}

TEST_F(MainTest, SaysWhyItCannotServe) {
  const struct {
    std::vector<std::string> arguments;
    int status;
    const char* text;
  } cases[] = {
      {{"--device=cuda:GPU-none", "--listen=127.0.0.1:0"}, 1, "device"},
      {{"--device=gpu"}, 2, "--device: must be"},
      {{"--device=host:0"}, 2, "--device: must be"},
      {{"--listen=foo"}, 2, "--listen: must be unix:PATH, HOST:PORT or [IPV6]:PORT (got foo)"},
      {{"--listen=unix:/" + std::string(200, 'x')}, 2, "at most 107 bytes"},
      {{"--listen=unix-abstract:x"}, 2, "--listen: abstract sockets"},
      {{"--listen=0.0.0.0:0"}, 2, "--tls-cert and --tls-key, or --insecure"},
      {{"--tls-cert=/nowhere"}, 2, "--tls-cert: needs --tls-key"},
      {{"--tls-client-ca=/nowhere"}, 2, "--tls-client-ca: needs --tls-cert"},
      {{"--lease=nan"}, 2, "--lease: must be a number in 0..86400 (got nan)"},
      {{"--max-device-bytes=-1"}, 2, "--max-device-bytes: must be a whole number in 0.."},
      {{"--device=host", "--token-file=/"},
       1,
       "--token-file: cannot read /: it is no regular file"},
      {{"--listen=0.0.0.0:0", "--tls-cert=/nowhere", "--tls-key=/nowhere"}, 1, "/nowhere"},
      {{"--max-sessions=many"}, 2, "max-sessions"},
      {{"--metrics-listen=9400"}, 2, "--metrics-listen: must be HOST:PORT over IPv4"},
      {{"--metrics-listen=[::1]:0"}, 2, "(got [::1]:0)"},
      {{"--metrics-listen=127.0.0.1: 80"}, 2, "(got 127.0.0.1: 80)"},
      {{"--listen=127.0.0.1:+1"}, 2, "--listen: the port must be in 0..65535"},
      {{"--listen=unix:x", "--listen=unix:x"}, 2, "--listen: unix:x is given twice"},
      {{"--metrics-listen=unix:/x"}, 2, "(got unix:/x)"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> command = {GDNPLAN_SERVER};
    command.insert(command.end(), c.arguments.begin(), c.arguments.end());
    Process server(command, {"GDNPLAN_LISTEN=" + address_});
    EXPECT_EQ(server.Wait(), c.status) << c.text;
    EXPECT_EQ(server.RestOfOutput(), "");
    EXPECT_THAT(server.ErrorOutput(), HasSubstr(c.text));
  }
}

// Twenty connections to that address, which nobody speaks on.
template <typename Address>
std::vector<int> ConnectOften(const Address& address) {
  std::vector<int> sockets;
  for (int i = 0; i < 20; ++i) {
    sockets.push_back(socket(reinterpret_cast<const sockaddr*>(&address)->sa_family,
                             SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(sockets.back(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
  }
  return sockets;
}

TEST_F(MainTest, WarnsOfTlsThatNothingUses) {
  const Authority authority("authority");
  const Identity identity = authority.Issue("DNS:localhost");
  const std::string certificate = (root_ / "cert.pem").string();
  const std::string key = (root_ / "key.pem").string();
  std::ofstream(certificate) << identity.certificate;
  std::ofstream(key) << identity.key;
  for (const bool tcp : {false, true}) {
    std::vector<std::string> more = {"--tls-cert=" + certificate, "--tls-key=" + key};
    if (tcp) more.emplace_back("--listen=127.0.0.1:0");
    Process server(Command(more));
    EXPECT_THAT(server.ReadLine(), StartsWith("gdnplan-server 0.1.0 serving on " + address_));
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
    const std::string errors = server.ErrorOutput();
    EXPECT_EQ(errors.find("--tls-cert: not used") == std::string::npos, tcp) << errors;
  }
}

TEST_F(MainTest, AcceptsAgainAfterItRanOutOfDescriptors) {
#ifdef GDNPLAN_ASAN
  GTEST_SKIP() << "UBSan's check of objects needs descriptors itself, and reports what is none";
#endif
  for (const bool tcp : {false, true}) {
    Process server(Command({"--listen=127.0.0.1:0"}));
    const std::string line = server.ReadLine();
    const size_t at = line.find("127.0.0.1:");
    ASSERT_NE(at, std::string::npos);
    const std::string tcp_address = line.substr(at, line.find_last_of(',') - at);
    const auto entries =
        std::filesystem::directory_iterator("/proc/" + std::to_string(server.pid()) + "/fd");
    const auto num_open = static_cast<rlim_t>(std::distance(begin(entries), end(entries)));
    const rlimit few{num_open + 4, num_open + 4};
    ASSERT_EQ(prlimit(server.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
    sockaddr_un local{.sun_family = AF_UNIX, .sun_path = {}};
    (root_ / "run" / "x.sock").string().copy(local.sun_path, sizeof(local.sun_path) - 1);
    sockaddr_in remote{};
    remote.sin_family = AF_INET;
    remote.sin_port = htons(static_cast<in_port_t>(std::stoi(tcp_address.substr(10))));
    remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::vector<int> sockets = tcp ? ConnectOften(remote) : ConnectOften(local);
    ServiceClient client(
        grpc::CreateChannel(tcp ? tcp_address : address_, grpc::InsecureChannelCredentials()));
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      for (const int fd : sockets) close(fd);
    });
    EXPECT_THAT(client.Call(&v1::Planner::Stub::GetServerInfo, v1::GetServerInfoRequest()), IsOk());
    later.join();
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
    EXPECT_THAT(server.ErrorOutput(), HasSubstr("again: reason=\"Too many open files\""));
  }
}

// Root, so that another user can be had; who is not sees the skip.
TEST_F(MainTest, RefusesUsersThatAreNotAllowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Process server(Command({"--allow-uid=12345"}));
  ASSERT_EQ(server.ReadLine(), Line());
  const std::string path = (root_ / "run" / "x.sock").string();
  for (const auto& opened : {root_, root_ / "run", std::filesystem::path(path)}) {
    std::filesystem::permissions(opened, std::filesystem::perms::all);
  }
  const auto visit = [&](uid_t user) {
    const pid_t pid = fork();
    if (pid == 0) {
      const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
      path.copy(address.sun_path, sizeof(address.sun_path) - 1);
      char byte = 0;
      if (setuid(user) != 0 ||
          connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        _exit(2);
      }
      // gRPC's server begins with its settings.
      _exit(read(fd, &byte, 1) == 1 ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(visit(12345), 0);
  EXPECT_EQ(visit(12346), 1);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_THAT(server.ErrorOutput(), HasSubstr("uid=12346"));
}

// As PID 1 of a container; without the GPU that it asks for it comes no further.
TEST_F(MainTest, LeavesPid1BeforeItUsesCuda) {
  const auto run = [&](const std::string& flag) {
    Process server({"/usr/bin/unshare", "--map-root-user", "--pid", "--fork", GDNPLAN_SERVER,
                    "--listen=" + address_, "--device=cuda:GPU-none", flag});
    EXPECT_EQ(server.Wait(), 1);
    EXPECT_EQ(server.RestOfOutput(), "");
    return server.ErrorOutput();
  };
  const std::string errors = run("--min-pid=1000");
  if (!server::BuiltWithCuda() || errors.find("device: ") == std::string::npos) {
    GTEST_SKIP() << "no CUDA in this build, or no PID namespaces here: " << errors;
  }
  EXPECT_THAT(errors, HasSubstr("parent=1"));
  EXPECT_THAT(run("--min-pid=0"), ::testing::Not(HasSubstr("parent=")));
}

TEST_F(MainTest, TakesTheEnvironment) {
  Process server({GDNPLAN_SERVER}, {"GDNPLAN_LISTEN=" + address_, "GDNPLAN_DEVICE=host:2"});
  EXPECT_EQ(server.ReadLine(), Line() + ", host:1");
}

TEST_F(MainTest, PrintsItsVersion) {
  Process server({GDNPLAN_SERVER, "--version"});
  EXPECT_EQ(server.ReadLine(), "gdnplan-server 0.1.0");
  EXPECT_EQ(server.Wait(), 0);
}

}  // namespace
}  // namespace gdnplan::test
