// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The program where /dev/shm is full: a mount of its own, of a few MiB.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/server/main_testing.h"
#include "tests/testing/process.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FullSharedMemoryTest : public MainTest {
 protected:
  // Skips where this process may not mount.
  void Start() {
    std::vector<std::string> command = {"/usr/bin/unshare",
                                        "--map-root-user",
                                        "--mount",
                                        "/bin/sh",
                                        "-c",
                                        "mount -t tmpfs -o size=9m tmpfs /dev/shm && exec \"$@\"",
                                        "sh"};
    const std::vector<std::string> program = Command();
    command.insert(command.end(), program.begin(), program.end());
    server_.emplace(command);
    if (!server_->ReadLine().empty()) return;
    server_->Wait();
    const std::string errors = server_->ErrorOutput();
    if (errors.find("unshare") == std::string::npos && errors.find("mount") == std::string::npos) {
      FAIL() << errors;
    }
    GTEST_SKIP() << "no mount namespaces here: " << errors;
  }
  // Somebody else's file takes what is left.
  std::filesystem::path Fill() const {
    const std::filesystem::path path =
        "/proc/" + std::to_string(server_->pid()) + "/root/dev/shm/filler";
    std::ofstream file(path, std::ios::binary);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
    return path;
  }

  std::optional<Process> server_;
};

TEST_F(FullSharedMemoryTest, SessionsAreRefusedAndOthersGoOn) {
  Start();
  if (IsSkipped() || HasFatalFailure()) return;
  ServiceClient client = Client();
  std::vector<std::string> sessions;
  absl::Status refusal;
  while (refusal.ok() && sessions.size() < 100) {
    const auto session = client.Open(SampleRequest());
    refusal = session.status();
    if (session.ok()) sessions.push_back(session->session_id());
  }
  EXPECT_THAT(refusal, StatusIs(absl::StatusCode::kResourceExhausted,
                                AllOf(HasSubstr("/dev/shm"), HasSubstr("available"))));
  ASSERT_FALSE(sessions.empty());
  const std::filesystem::path filler = Fill();
  ASSERT_GT(std::filesystem::file_size(filler), 0u);
  // Their memory was reserved: writing it raises no SIGBUS.
  for (const std::string& session : sessions) {
    EXPECT_THAT(client.Plan(session, SampleBatch()), IsOk());
  }
  EXPECT_THAT(client.Open(SampleRequest()), StatusIs(absl::StatusCode::kResourceExhausted));
  std::filesystem::remove(filler);
  EXPECT_THAT(client.Close(sessions.back()), IsOk());
  EXPECT_THAT(client.Open(SampleRequest()), IsOk());
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
}

}  // namespace
}  // namespace gdnplan::test
