// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The tool where the system gives no more threads.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/client/child_process.h"
#include "tests/client/load_tool.h"

namespace gdnplan::tool {
namespace {

using test::ProgramResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RefusedThreadsTest : public test::LoadToolTest {
 protected:
  // Threads from this one on, counted over the process.
  ProgramResult RunWithout(int first_refused, const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = Command(arguments);
    command.insert(command.begin(), {"/usr/bin/env", "LD_PRELOAD=" GDNPLAN_THREAD_REFUSER_PATH,
                                     "GDNPLAN_REFUSED_THREAD=" + std::to_string(first_refused)});
    return test::RunProgram(command);
  }
};

TEST_F(RefusedThreadsTest, ALoadSaysSoInOneLine) {
  const std::vector<std::string> arguments = {"--sessions=2", "--rate=100", "--steps=4",
                                              "--shape=decode=1"};
  int refused = 1;
  for (; refused < 100; ++refused) {
    SCOPED_TRACE(refused);
    const ProgramResult result = RunWithout(refused, arguments);
    if (result.status == 0) break;
    ASSERT_EQ(result.status, 1) << result.errors;
    EXPECT_THAT(result.errors,
                AllOf(StartsWith("gdnplan: "), HasSubstr("no thread: "), HasSubstr("ulimit -u")));
    EXPECT_EQ(result.errors.find('\n'), result.errors.size() - 1) << result.errors;
  }
  // The leases', each session's two and the ticker's.
  EXPECT_GE(refused, 7);
  EXPECT_LT(refused, 100);
}

}  // namespace
}  // namespace gdnplan::tool
