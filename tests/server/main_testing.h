// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The server's program, run by a test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/server/service_testing.h"
#include "tests/testing/process.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {

class MainTest : public ::testing::Test {
 protected:
  MainTest() { address_ = "unix:" + (root_ / "run" / "x.sock").string(); }

  std::vector<std::string> Command(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {GDNPLAN_SERVER, "--listen=" + address_, "--device=host"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  std::string Line() const {
    return "gdnplan-server 0.1.0 serving on " + address_ + ", devices: host";
  }
  ServiceClient Client() const {
    return ServiceClient(grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  }
  // The memory of a session opened on the running server.
  server::MemoryHandle OpenSession() const {
    const auto session = Client().Open(SampleRequest());
    EXPECT_THAT(session, IsOk());
    return server::PosixSharedMemoryHandle{
        session->arenas(0).memory().posix_shared_memory().name()};
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  std::string address_;
};

}  // namespace gdnplan::test
