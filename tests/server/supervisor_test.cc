// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/supervisor.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "tests/testing/notify_socket.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::Supervisor;
using std::chrono_literals::operator""us;
using ::testing::HasSubstr;

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() { Clear(); }
  ~SupervisorTest() override { Clear(); }
  static void Clear() {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
  static void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
};

TEST_F(SupervisorTest, NobodyIsThere) {
  Set("WATCHDOG_USEC", "1000");
  const auto supervisor = Supervisor::FromEnvironment(0);
  ASSERT_THAT(supervisor, IsOk());
  EXPECT_FALSE(supervisor->there());
  EXPECT_EQ(supervisor->watchdog(), 0us);
  EXPECT_THAT(supervisor->Tell("READY=1"), IsOk());
}

TEST_F(SupervisorTest, HearsWhatItIsTold) {
  for (const bool abstract : {false, true}) {
    const NotifySocket socket(abstract);
    Set("NOTIFY_SOCKET", socket.address());
    const auto supervisor = Supervisor::FromEnvironment(0);
    ASSERT_THAT(supervisor, IsOk());
    EXPECT_TRUE(supervisor->there());
    EXPECT_THAT(supervisor->Tell("READY=1\nSTATUS=here"), IsOk());
    EXPECT_EQ(socket.Receive(), "READY=1\nSTATUS=here");
  }
}

TEST_F(SupervisorTest, SaysThatItIsGone) {
  {
    const NotifySocket socket;
    Set("NOTIFY_SOCKET", socket.address());
  }
  const auto supervisor = Supervisor::FromEnvironment(0);
  ASSERT_THAT(supervisor, IsOk());
  EXPECT_THAT(supervisor->Tell("READY=1").message(), HasSubstr("NOTIFY_SOCKET"));
}

TEST_F(SupervisorTest, TheWatchdogIsForOneProcess) {
  Set("NOTIFY_SOCKET", "@somewhere");
  Set("WATCHDOG_USEC", "2500000");
  EXPECT_EQ(Supervisor::FromEnvironment(0)->watchdog(), 2'500'000us);
  Set("WATCHDOG_PID", std::to_string(getpid()));
  EXPECT_EQ(Supervisor::FromEnvironment(0)->watchdog(), 2'500'000us);
  Set("WATCHDOG_PID", std::to_string(getppid()));
  EXPECT_EQ(Supervisor::FromEnvironment(0)->watchdog(), 0us);
  EXPECT_EQ(Supervisor::FromEnvironment(getppid())->watchdog(), 2'500'000us);
}

TEST_F(SupervisorTest, RefusesNonsense) {
  Set("NOTIFY_SOCKET", "relative");
  EXPECT_THAT(Supervisor::FromEnvironment(0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("NOTIFY_SOCKET")));
  Set("NOTIFY_SOCKET", "/" + std::string(107, 'x'));
  EXPECT_THAT(Supervisor::FromEnvironment(0), StatusIs(absl::StatusCode::kInvalidArgument));
  Set("NOTIFY_SOCKET", "@x");
  for (const char* value : {"0", "-1", "soon", "99999999999999999999"}) {
    Set("WATCHDOG_USEC", value);
    EXPECT_THAT(Supervisor::FromEnvironment(0),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("WATCHDOG_USEC")));
  }
  Set("WATCHDOG_USEC", "1");
  Set("WATCHDOG_PID", "me");
  EXPECT_THAT(Supervisor::FromEnvironment(0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("WATCHDOG_PID")));
}

}  // namespace
}  // namespace gdnplan::test
