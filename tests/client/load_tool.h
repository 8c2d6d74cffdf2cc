// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load against a server of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/testing/eventually.h"

namespace gdnplan::test {

class LoadToolTest : public ::testing::Test {
 protected:
  std::vector<std::string> Command(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "--server=" + server_.unix_address(),
                                        "load", "--warmup=0", "--json=" + json_file_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }
  ProgramResult Run(const std::vector<std::string>& arguments) const {
    return RunProgram(Command(arguments));
  }
  nlohmann::json Result() const { return nlohmann::json::parse(std::ifstream(json_file_)); }
  // A load is under way on the server.
  void AwaitPlans(uint64_t more_than = 10) const {
    ASSERT_TRUE(Eventually([&] {
      const auto client = client::Client::Connect(server_.unix_address());
      const auto sessions = client.ok() ? client->ListSessions() : client.status();
      return sessions.ok() && !sessions->empty() && sessions->front().num_plans > more_than;
    }));
  }

  TemporaryDirectory directory_;
  LiveServer server_;
  const std::string json_file_ = directory_.path() + "/result.json";
};

// Starts of a result, each of which came to one thing.
inline uint64_t NumStarts(const nlohmann::json& result) {
  return result.at("plans").get<uint64_t>() + result.at("num_errors").get<uint64_t>() +
         result.at("skipped").get<uint64_t>();
}

}  // namespace gdnplan::test
