// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server that a thousand sessions came to and left again is as it was.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/eventually.h"
#include "tests/testing/process_usage.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::ChildProcess;
using test::Eventually;
using test::IsOk;
using test::LiveServer;
using test::ProcessUsage;
using test::UsageOf;

constexpr uint32_t kAtOnce = 50;
constexpr int kRounds = 7;
#ifdef GDNPLAN_ASAN
constexpr uint64_t kSpareBytes = 1 << 30;  // AddressSanitizer keeps what was freed
#else
constexpr uint64_t kSpareBytes = 16 << 20;
#endif
constexpr int kSpareDescriptors = 8;
constexpr int kSpareThreads = 8;  // gRPC's pool has one more for a while when calls crowd

class SessionChurnTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(client_, IsOk()); }

  uint32_t NumSessions() const { return client_->GetServerInfo()->num_sessions; }
  void AwaitSessions(uint32_t count) const {
    EXPECT_TRUE(Eventually([&] { return NumSessions() == count; }))
        << NumSessions() << " of " << count;
  }

  void OpenAndClose() const {
    std::vector<Session> sessions;
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      auto session = client_->OpenSession(LiveConfig());
      ASSERT_THAT(session, IsOk());
      EXPECT_THAT(session->Plan(Batch().view()), IsOk());
      sessions.push_back(*std::move(session));
    }
    for (Session& session : sessions) EXPECT_THAT(session.Close(), IsOk());
  }

  // Their owner is killed: with a stream the connection's end ends them, without one their lease.
  void OpenAndKill(const std::string& transport) const {
    const ChildProcess owner({GDNPLAN_TOOL_PATH, "--server=" + server_.unix_address(), "load",
                              "--shape=decode=8", "--sessions=" + std::to_string(kAtOnce),
                              "--connections=4", "--transport=" + transport, "--rate=200",
                              "--duration=3600"});
    AwaitSessions(kAtOnce);
    owner.Signal(SIGKILL);
  }

  void OneRound() const {
    OpenAndClose();
    for (const char* transport : {"stream", "unary"}) {
      OpenAndKill(transport);
      AwaitSessions(0);
    }
  }

  size_t NumObjects() const {
    return test::SharedMemoryObjects("gdnplan-" + client_->GetServerInfo()->boot_id).size();
  }

  LiveServer server_{"host", {"--lease=1", "--grace=0.2"}};
  absl::StatusOr<Client> client_ = Client::Connect(server_.unix_address());
};

TEST_F(SessionChurnTest, AThousandSessionsLeaveNothing) {
  OneRound();
  const ProcessUsage before = UsageOf(server_.process().pid());
  ASSERT_GT(before.descriptors, 0);
  for (int i = 1; i < kRounds; ++i) OneRound();
  EXPECT_TRUE(Eventually([&] {
    const ProcessUsage now = UsageOf(server_.process().pid());
    return NumObjects() == 1 &&  // the server's own
           now.descriptors <= before.descriptors + kSpareDescriptors &&
           now.threads <= before.threads + kSpareThreads &&
           now.resident_bytes <= before.resident_bytes + kSpareBytes;
  })) << "was "
      << ToString(before) << ", is " << ToString(UsageOf(server_.process().pid())) << ", "
      << NumObjects() << " shared memory objects";
  const auto last = client_->OpenSession(LiveConfig());
  ASSERT_THAT(last, IsOk());
  EXPECT_GT(client_->ListSessions()->front().number, 1000u);
  RecordProperty("before", ToString(before));
  RecordProperty("after", ToString(UsageOf(server_.process().pid())));
}

}  // namespace
}  // namespace gdnplan::client
