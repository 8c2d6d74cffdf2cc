// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "gdnplan/client/client.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConnectTest, WithoutAnAddressTheEnvironmentSaysWhere) {
  const auto refusal = [] {
    ClientOptions options;
    options.connect_timeout = std::chrono::milliseconds(0);
    return Client::Connect("", options).status();
  };
  setenv("GDNPLAN_SERVER", "unix:/nowhere/x.sock", 1);
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/nowhere/x.sock")));
  setenv("GDNPLAN_SERVER", "", 1);
  setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kUnavailable,
                                  HasSubstr("unix:/nowhere/gdnplan/gdnplan.sock")));
  unsetenv("GDNPLAN_SERVER");
  unsetenv("XDG_RUNTIME_DIR");
}

TEST(CheckAddressTest, TakesWhatGrpcConnectsTo) {
  for (const char* address : {"unix:/x", "unix:x", "unix:///x", "unix-abstract:x", "localhost:1",
                              "127.0.0.1:65535", "[::1]:1", "dns:///host:1", "ipv4:127.0.0.1:1"}) {
    EXPECT_THAT(CheckAddress(address), IsOk()) << address;
  }
}

TEST(CheckAddressTest, RefusesWhatItWouldTakeForAName) {
  for (const char* address : {"", "foo", "/nope/x.sock", "./x.sock", "http://localhost:1", "unix:",
                              "host:", "host:0", "host:65536", "host:+1", ":1", "::1:1", "[]:1"}) {
    EXPECT_THAT(
        CheckAddress(address),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("unix:PATH"), EndsWith(std::string("(got ") + address + ")"))))
        << address;
  }
}

absl::Status Refusal(const std::string& message) {
  const auto ask = [&message](const CallContext& /*context*/) {
    return absl::UnavailableError(message);
  };
  return AwaitServer(ask, "host:1", {});
}

TEST(AwaitServerTest, SaysWhatGrpcsReasonMeans) {
  struct Case {
    const char* said;
    const char* reason;
    const char* advice;
  };
  constexpr char kLast[] = "failed to connect to all addresses; last error: ";
  constexpr Case kCases[] = {
      {"UNKNOWN: unix:/x: No such file or directory", ": No such file or directory (tried",
       "start one with gdnplan-server --listen=host:1 or give"},
      {"UNKNOWN: ipv4:1.2.3.4:1: Failed to connect to remote host: Connection refused",
       ": Connection refused (tried", "start one with"},
      {"UNKNOWN: unix:/x: Permission denied", ": Permission denied (tried", "socket's group"},
      {"UNAVAILABLE: ipv4:1.2.3.4:1: Socket closed", ": Socket closed (tried", "ask for TLS"},
      {"UNKNOWN: unix:/x: Broken pipe", ": Broken pipe (tried", "--allow-uid"},
      {"OK", "does not answer as a gRPC server", "check the address"},
  };
  for (const auto& [said, reason, advice] : kCases) {
    EXPECT_THAT(Refusal(std::string(kLast) + said),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr("cannot reach a gdnplan server at host:1"),
                               HasSubstr(reason), HasSubstr(advice))))
        << said;
  }
  EXPECT_THAT(Refusal("DNS resolution failed for host:1: C-ares status is not ARES_SUCCESS"),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("name is not known"), Not(HasSubstr("ares")))));
}

}  // namespace
}  // namespace gdnplan::client
