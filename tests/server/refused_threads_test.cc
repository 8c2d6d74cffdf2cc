// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The program where the system gives no more threads.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "tests/server/main_testing.h"

namespace gdnplan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RefusedThreadsTest : public MainTest {
 protected:
  // Threads from this one on.
  Process Start(int first_refused) const {
    return Process(
        Command({"--token-file=" + directory_.path() + "/token",
                 "--trace-file=" + directory_.path() + "/trace.json", "--rpc-threads=2"}),
        {"LD_PRELOAD=" GDNPLAN_THREAD_REFUSER,
         "GDNPLAN_REFUSED_THREAD=" + std::to_string(first_refused)});
  }
};

TEST_F(RefusedThreadsTest, TheServerSaysSoAndLeavesNothingBehind) {
  const std::string token = directory_.Write("token", "a-token-of-some-length\n");
  std::filesystem::permissions(token, std::filesystem::perms::owner_read);
  int refused = 1;
  for (; refused < 100; ++refused) {
    SCOPED_TRACE(refused);
    Process server = Start(refused);
    if (!server.ReadLine().empty()) {
      // The shutdown asks for threads, too, and does without.
      server.Signal(SIGTERM);
      EXPECT_EQ(server.Wait(), 0);
      break;
    }
    ASSERT_EQ(server.Wait(), 1);
    ASSERT_THAT(server.ErrorOutput(),
                AllOf(HasSubstr("cannot serve: reason="), HasSubstr("no thread: "),
                      HasSubstr("ulimit -u and -v")));
    EXPECT_TRUE(!std::filesystem::exists(root_ / "run") ||
                std::filesystem::is_empty(root_ / "run"));
  }
  // The log's, the token file's, the trace's, the sessions', the RPCs' and the connections' at
  // least.
  EXPECT_GT(refused, 6);
  EXPECT_LT(refused, 100);
}

}  // namespace
}  // namespace gdnplan::test
