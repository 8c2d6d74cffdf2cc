// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The library and the tool against servers that ask who they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/certificates.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::Authority;
using test::Identity;
using test::IsOk;
using test::LiveServer;
using test::RunProgram;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using std::chrono_literals::operator""ms;

class AccessLiveTest : public ::testing::Test {
 protected:
  std::string Secret(const std::string& name, const std::string& content) const {
    const std::string path = directory_.Write(name, content);
    EXPECT_EQ(chmod(path.c_str(), 0600), 0);
    return path;
  }
  void Start(const std::vector<std::string>& flags) {
    server_.emplace("host", flags);
    ASSERT_NE(server_->tcp_address(), "") << server_->process().ErrorOutput();
  }
  std::vector<std::string> MutualTls() {
    const Identity server = authority_.Issue("DNS:planner.test");
    const Identity client = authority_.Issue("DNS:client.test");
    tls_ = {.ca_file = directory_.Write("ca.pem", authority_.certificate()),
            .cert_file = directory_.Write("client.pem", client.certificate),
            .key_file = Secret("client.key", client.key),
            .server_name = "planner.test"};
    return {"--tls-cert=" + directory_.Write("server.pem", server.certificate),
            "--tls-key=" + Secret("server.key", server.key), "--tls-client-ca=" + tls_.ca_file};
  }
  absl::Status Connect(const std::string& address, const TlsOptions& tls,
                       const std::string& token_file = "") const {
    return Client::Connect(address,
                           {.connect_timeout = 5'000ms, .tls = tls, .token_file = token_file})
        .status();
  }
  // A unary plan, one of a stream, and a follower.
  void PlanWith(const std::string& address, const ClientOptions& options) {
    const auto client = Client::Connect(address, options);
    ASSERT_THAT(client, IsOk());
    auto session = client->OpenSession(LiveConfig());
    ASSERT_THAT(session, IsOk());
    auto follower = session->Follow();
    ASSERT_THAT(follower, IsOk());
    EXPECT_THAT(session->Plan(batch_.view()), IsOk());
    EXPECT_THAT(follower->Next(std::chrono::seconds(30)), IsOk());
    auto stream = session->OpenStream();
    ASSERT_THAT(stream, IsOk());
    EXPECT_THAT(stream->Plan(batch_.view()), IsOk());
  }

  const test::TemporaryDirectory directory_;
  const Authority authority_{"authority"};
  TlsOptions tls_;
  Batch batch_;
  std::optional<LiveServer> server_;
};

TEST_F(AccessLiveTest, PlansOverMutualTlsWithAToken) {
  std::vector<std::string> flags = MutualTls();
  const std::string token = Secret("token", "secret");
  flags.push_back("--token-file=" + token);
  Start(flags);
  PlanWith(server_->tcp_address(), {.tls = tls_, .token_file = token});
  // TLS is TCP's; the token is asked for everywhere.
  PlanWith(server_->unix_address(), {.tls = tls_, .token_file = token});
  EXPECT_THAT(Connect(server_->tcp_address(), tls_), StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(Connect(server_->unix_address(), {}),
              StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("token")));
}

TEST_F(AccessLiveTest, SaysWhyTlsFails) {
  Start(MutualTls());
  EXPECT_THAT(Connect(server_->tcp_address(), tls_), IsOk());
  TlsOptions wrong = tls_;
  wrong.ca_file = directory_.Write("other.pem", Authority("other").certificate());
  EXPECT_THAT(
      Connect(server_->tcp_address(), wrong),
      StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(server_->tcp_address()),
                                                     // OpenSSL versions differ in how they say it.
                                                     AnyOf(HasSubstr("CERTIFICATE_VERIFY_FAILED"),
                                                           HasSubstr("certificate verify failed")),
                                                     HasSubstr("not issued by the authority"))));
  wrong = tls_;
  wrong.server_name = "";
  EXPECT_THAT(Connect(server_->tcp_address(), wrong),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("Hostname Verification"), HasSubstr("another name"))));
  wrong = tls_;
  wrong.cert_file = wrong.key_file = "";
  EXPECT_THAT(Connect(server_->tcp_address(), wrong),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("a client's certificate")));
  EXPECT_THAT(Connect(server_->tcp_address(), {}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("may ask for TLS")));
  wrong.cert_file = tls_.cert_file;
  EXPECT_THAT(Connect(server_->tcp_address(), wrong), StatusIs(absl::StatusCode::kInvalidArgument));
  wrong = {.ca_file = "", .cert_file = "", .key_file = "", .server_name = "x"};
  EXPECT_THAT(Connect(server_->tcp_address(), wrong),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ca_file")));
}

// Not gRPC's own ones before it.
TEST_F(AccessLiveTest, TheToolSaysInOneLineWhyTlsFails) {
  Start(MutualTls());
  const test::ProgramResult result =
      RunProgram({GDNPLAN_TOOL_PATH, "info", "--server=" + server_->tcp_address(),
                  "--tls-ca=" + directory_.Write("other.pem", Authority("other").certificate())});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors, AllOf(StartsWith("gdnplan: "), EndsWith("for another name\n")));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
}

TEST_F(AccessLiveTest, NoTokenGoesUnencryptedThroughANetwork) {
  const std::string token = Secret("token", "secret");
  EXPECT_THAT(Connect("192.0.2.1:1", {}, token),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("192.0.2.1:1"), HasSubstr("unencrypted"))));
  ASSERT_EQ(chmod(token.c_str(), 0644), 0);
  EXPECT_THAT(Connect("127.0.0.1:1", {}, token),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("chmod")));
}

TEST_F(AccessLiveTest, AClientTakesTheNextToken) {
  const std::string server_token = Secret("server", "first\nnext");
  const std::string client_token = Secret("client", "first");
  Start({"--token-file=" + server_token});
  const auto client = Client::Connect(server_->unix_address(), {.token_file = client_token});
  ASSERT_THAT(client, IsOk());
  Secret("client", "next\n");
  Secret("server", "next\n");
  // The first goes within a second here and there; then only the next one does.
  std::this_thread::sleep_for(3'000ms);
  EXPECT_THAT(client->GetServerInfo(), IsOk());
}

TEST_F(AccessLiveTest, TheToolHasFlagsForIt) {
  std::vector<std::string> flags = MutualTls();
  const std::string token = Secret("token", "secret");
  flags.push_back("--token-file=" + token);
  Start(flags);
  std::vector<std::string> command = {GDNPLAN_TOOL_PATH, "info",
                                      "--server=" + server_->tcp_address()};
  EXPECT_EQ(RunProgram(command).status, 1);
  for (const std::string& flag :
       {"--tls-ca=" + tls_.ca_file, "--tls-cert=" + tls_.cert_file, "--tls-key=" + tls_.key_file,
        "--tls-server-name=" + tls_.server_name, "--token-file=" + token}) {
    command.push_back(flag);
  }
  const test::ProgramResult result = RunProgram(command);
  EXPECT_EQ(result.status, 0) << result.errors;
}

}  // namespace
}  // namespace gdnplan::client
