// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "wire/default_address.h"

namespace gdnplan::test {
namespace {

using server::FillMode;
using server::Options;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::variant<Options, int> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gdnplan-server");
  return server::ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(OptionsTest, Defaults) {
  const Options options = std::get<Options>(Parse({}));
  EXPECT_THAT(options.server.listen, ElementsAre(wire::DefaultAddress()));
  EXPECT_EQ(options.server.device, "auto");
  EXPECT_EQ(options.server.fill, FillMode::kAuto);
  EXPECT_EQ(options.server.limits.max_sessions, 64);
  EXPECT_EQ(options.server.lease.length.count(), 30'000);
  EXPECT_EQ(options.server.lease.grace.count(), 2'000);
  EXPECT_EQ(options.server.max_message_bytes, 64 << 20);
  EXPECT_EQ(options.min_pid, 1000);
  EXPECT_EQ(options.log_level, "info");
  EXPECT_EQ(options.drain.count(), 5000);
}

TEST(OptionsTest, Flags) {
  const Options options = std::get<Options>(Parse({"--listen=unix:/a",
                                                   "--listen",
                                                   "localhost:1",
                                                   "--device=host:3",
                                                   "--fill=copy",
                                                   "--max-sessions=5",
                                                   "--max-message-bytes=100000",
                                                   "--log-level=debug",
                                                   "--drain=0.007",
                                                   "--min-pid=0",
                                                   "--lease=0",
                                                   "--grace=1.5",
                                                   "--max-num-seqs=6",
                                                   "--max-num-batched-tokens=7",
                                                   "--max-groups=8",
                                                   "--max-slots=9",
                                                   "--max-session-bytes=10",
                                                   "--max-device-bytes=11",
                                                   "--max-followers=12",
                                                   "--max-streams=13",
                                                   "--max-plans-in-flight=14"}));
  EXPECT_THAT(options.server.listen, ElementsAre("unix:/a", "localhost:1"));
  EXPECT_EQ(options.server.device, "host:3");
  EXPECT_EQ(options.server.fill, FillMode::kCopy);
  EXPECT_EQ(options.server.limits.max_sessions, 5);
  EXPECT_EQ(options.server.max_message_bytes, 100'000);
  EXPECT_EQ(options.server.lease.length.count(), 0);
  EXPECT_EQ(options.server.lease.grace.count(), 1500);
  EXPECT_EQ(options.server.limits.max_num_seqs, 6);
  EXPECT_EQ(options.server.limits.max_num_batched_tokens, 7);
  EXPECT_EQ(options.server.limits.max_groups, 8);
  EXPECT_EQ(options.server.limits.max_slots, 9);
  EXPECT_EQ(options.server.limits.max_session_bytes, 10u);
  EXPECT_EQ(options.server.limits.max_device_bytes, 11u);
  EXPECT_EQ(options.server.limits.max_followers, 12);
  EXPECT_EQ(options.server.streams.max_streams, 13u);
  EXPECT_EQ(options.server.streams.max_plans_in_flight, 14u);
  EXPECT_EQ(options.min_pid, 0);
  EXPECT_EQ(options.log_level, "debug");
  EXPECT_EQ(options.drain.count(), 7);
}

TEST(OptionsTest, Access) {
  EXPECT_FALSE(std::get<Options>(Parse({})).server.access.insecure);
  const auto access =
      std::get<Options>(Parse({"--allow-uid=5,6", "--allow-uid", "7", "--tls-cert=c", "--tls-key=k",
                               "--tls-client-ca=a", "--token-file=t"}))
          .server.access;
  EXPECT_THAT(access.allowed_users, ElementsAre(5, 6, 7));
  EXPECT_EQ(access.tls_cert, "c");
  EXPECT_EQ(access.tls_key, "k");
  EXPECT_EQ(access.tls_client_ca, "a");
  EXPECT_EQ(access.token_file, "t");
  EXPECT_TRUE(std::get<Options>(Parse({"--insecure"})).server.access.insecure);
  EXPECT_EQ(std::get<int>(Parse({"--insecure", "--tls-cert=c"})), 2);
  EXPECT_EQ(std::get<int>(Parse({"--allow-uid=nobody"})), 2);
}

TEST(OptionsTest, Environment) {
  setenv("GDNPLAN_LISTEN", "unix:/a,localhost:1", 1);
  setenv("GDNPLAN_DEVICE", "host", 1);
  setenv("GDNPLAN_MIN_PID", "2000", 1);
  const Options from_environment = std::get<Options>(Parse({}));
  EXPECT_THAT(from_environment.server.listen, ElementsAre("unix:/a", "localhost:1"));
  EXPECT_EQ(from_environment.server.device, "host");
  EXPECT_EQ(from_environment.min_pid, 2000);
  const Options from_both = std::get<Options>(Parse({"--device=host:2"}));
  EXPECT_EQ(from_both.server.device, "host:2");
  unsetenv("GDNPLAN_LISTEN");
  unsetenv("GDNPLAN_DEVICE");
  unsetenv("GDNPLAN_MIN_PID");
}

std::string Printed(const char* flag) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(std::get<int>(Parse({flag})), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(OptionsTest, FlagsVariablesAndKeysAgree) {
  std::istringstream help(Printed("--help"));
  std::vector<std::string> keys;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  --")) continue;
    const std::string key = line.substr(4, line.find(' ', 4) - 4);
    if (key == "version" || key == "config" || key == "print-config") continue;
    std::string variable = "GDNPLAN_";
    for (const char c : key) variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
    EXPECT_THAT(line, HasSubstr("(Env:" + variable + ")"));
    keys.push_back(key);
  }
  EXPECT_GT(keys.size(), 20u);
  std::istringstream configuration(Printed("--print-config"));
  std::vector<std::string> printed;
  for (std::string line; std::getline(configuration, line);) {
    printed.push_back(line.substr(0, line.find(" =")));
  }
  EXPECT_EQ(printed, keys);
}

TEST(OptionsTest, ThePackagedFileIsTaken) {
  const Options options = std::get<Options>(Parse({"--config=" GDNPLAN_PACKAGED_CONFIG}));
  EXPECT_THAT(options.server.listen, ElementsAre("unix:/run/gdnplan/gdnplan.sock"));
  EXPECT_EQ(options.server.device, "auto");
}

TEST(OptionsTest, TheEnvironmentIsCheckedAsWell) {
  setenv("GDNPLAN_LISTEN", "foo", 1);
  EXPECT_EQ(std::get<int>(Parse({})), 2);
  setenv("GDNPLAN_LISTEN", "unix:/a", 1);
  setenv("GDNPLAN_LEASE", "nan", 1);
  EXPECT_EQ(std::get<int>(Parse({})), 2);
  unsetenv("GDNPLAN_LISTEN");
  unsetenv("GDNPLAN_LEASE");
}

TEST(OptionsTest, ExitStatus) {
  EXPECT_EQ(std::get<int>(Parse({"--help"})), 0);
  EXPECT_EQ(std::get<int>(Parse({"--version"})), 0);
  for (const char* wrong : {"--nonsense",
                            "--max-sessions=0",
                            "--max-message-bytes=1",
                            "--fill=slow",
                            "--log-level=loud",
                            "--drain=-1",
                            "--lease=-1",
                            "--max-num-seqs=65537",
                            "--max-plans-in-flight=17",
                            "--min-pid=-1",
                            "--min-pid=30001",
                            "stray",
                            "--lease=nan",
                            "--grace=nan",
                            "--drain=nan",
                            "--drain=inf",
                            "--max-sessions=1e2",
                            "--max-session-bytes=-1",
                            "--max-session-bytes=18446744073709551616",
                            "--max-device-bytes=-1",
                            "--max-device-bytes=99999999999999999999",
                            "--max-streams=-1",
                            "--allow-uid=-1",
                            "--allow-uid=4294967296",
                            "--listen=foo",
                            "--listen=",
                            "--listen=0.0.0.0:1",
                            "--device=gpu",
                            "--device=host:0",
                            "--tls-cert=c",
                            "--tls-key=k",
                            "--tls-client-ca=a"}) {
    EXPECT_EQ(std::get<int>(Parse({wrong})), 2) << wrong;
  }
}

}  // namespace
}  // namespace gdnplan::test
