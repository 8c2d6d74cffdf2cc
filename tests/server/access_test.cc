// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Who may connect and call: TLS, tokens, their rotation.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/server.h"
#include "tests/server/health_testing.h"
#include "tests/server/plan_stream_testing.h"
#include "tests/server/service_testing.h"
#include "tests/testing/certificates.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {
namespace {

using server::Server;
using server::ServerOptions;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kNames[] = "DNS:localhost,IP:127.0.0.1";

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    options_.device = "host";
    options_.listen = {"127.0.0.1:0"};
  }

  // As those do who rotate: readers see the old file or the new one.
  std::string Write(const std::string& name, const std::string& content, mode_t mode = 0600) const {
    const std::string path = (root_ / name).string();
    std::ofstream(path + ".new", std::ios::binary) << content;
    EXPECT_EQ(chmod((path + ".new").c_str(), mode), 0);
    EXPECT_EQ(rename((path + ".new").c_str(), path.c_str()), 0);
    return path;
  }
  void UseTls(const Identity& identity) {
    options_.access.tls_cert = Write("cert.pem", identity.certificate);
    options_.access.tls_key = Write("key.pem", identity.key);
  }
  void Start() {
    auto server = Server::Start(options_);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
  }

  // Over a connection of its own.
  absl::Status Ask(const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                   const std::string& token = "") const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(server_->addresses()[0], credentials, arguments);
    const auto stub = v1::Planner::NewStub(channel);
    grpc::ClientContext context;
    Prepare(context, token);
    v1::GetServerInfoResponse response;
    return ToAbsl(stub->GetServerInfo(&context, {}, &response));
  }
  static void Prepare(grpc::ClientContext& context, const std::string& token) {
    context.set_deadline(std::chrono::system_clock::now() + seconds(30));
    if (!token.empty()) context.AddMetadata("authorization", token);
  }
  static std::shared_ptr<grpc::ChannelCredentials> Tls(const Authority& authority,
                                                       const Identity& own = {}) {
    return grpc::SslCredentials({.pem_root_certs = authority.certificate(),
                                 .pem_private_key = own.key,
                                 .pem_cert_chain = own.certificate});
  }

  const Authority authority_{"authority"};
  const std::shared_ptr<grpc::ChannelCredentials> plain_ = grpc::InsecureChannelCredentials();
  const TemporaryDirectory directory_;
  const std::filesystem::path root_{directory_.path()};
  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(AccessTest, BeyondLoopbackTcpNeedsTlsOrConsent) {
  options_.listen = {"0.0.0.0:0"};
  EXPECT_THAT(Server::Start(options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("0.0.0.0:0"), HasSubstr("--tls-cert and --tls-key"),
                             HasSubstr("--insecure"))));
  options_.access.insecure = true;
  EXPECT_THAT(Server::Start(options_), IsOk());
  options_.access.insecure = false;
  UseTls(authority_.Issue(kNames));
  EXPECT_THAT(Server::Start(options_), IsOk());
}

TEST_F(AccessTest, TlsProvesTheServer) {
  UseTls(authority_.Issue(kNames));
  Start();
  EXPECT_THAT(Ask(Tls(authority_)), IsOk());
  EXPECT_THAT(Ask(Tls(Authority("another"))), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Ask(plain_), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(AccessTest, MutualTlsProvesTheClient) {
  const Authority clients("clients");
  UseTls(authority_.Issue(kNames));
  options_.access.tls_client_ca = Write("clients.pem", clients.certificate());
  Start();
  EXPECT_THAT(Ask(Tls(authority_, clients.Issue(kNames))), IsOk());
  EXPECT_THAT(Ask(Tls(authority_)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Ask(Tls(authority_, authority_.Issue(kNames))),
              StatusIs(absl::StatusCode::kUnavailable));
  // Another authority takes over.
  const Authority next("next clients");
  Write("clients.pem", next.certificate());
  EXPECT_TRUE(Eventually([&] { return Ask(Tls(authority_, next.Issue(kNames))).ok(); }));
  EXPECT_THAT(Ask(Tls(authority_, clients.Issue(kNames))),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(AccessTest, CertificatesAreReadAgain) {
  UseTls(authority_.Issue(kNames));
  Start();
  const Authority next("next");
  EXPECT_THAT(Ask(Tls(next)), StatusIs(absl::StatusCode::kUnavailable));
  UseTls(next.Issue(kNames));
  EXPECT_TRUE(Eventually([&] { return Ask(Tls(next)).ok(); }));
  EXPECT_THAT(Ask(Tls(authority_)), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(AccessTest, SaysWhatIsWrongWithTlsFiles) {
  const Identity identity = authority_.Issue(kNames);
  const auto refuses = [&](absl::StatusCode code, const std::string& text) {
    EXPECT_THAT(Server::Start(options_), StatusIs(code, HasSubstr(text)));
  };
  UseTls({.certificate = identity.certificate, .key = authority_.Issue(kNames).key});
  refuses(absl::StatusCode::kInvalidArgument, "is not that of the certificate");
  UseTls({.certificate = "nonsense", .key = identity.key});
  refuses(absl::StatusCode::kInvalidArgument, "cert.pem holds no certificate in PEM");
  UseTls({.certificate = identity.certificate, .key = "nonsense"});
  refuses(absl::StatusCode::kInvalidArgument, "key.pem holds no private key");
  UseTls(identity);
  options_.access.tls_client_ca = (root_ / "missing.pem").string();
  refuses(absl::StatusCode::kNotFound,
          "--tls-client-ca: cannot read " + root_.string() + "/missing.pem");
  options_.access.tls_client_ca = root_.string();
  refuses(absl::StatusCode::kInvalidArgument, "holds no certificate");
  options_.access.tls_client_ca = "";
  options_.access.tls_key = "";
  refuses(absl::StatusCode::kInvalidArgument, "--tls-cert: needs --tls-key");
  options_.access.tls_cert = "";
  options_.access.tls_client_ca = Write("clients.pem", authority_.certificate());
  refuses(absl::StatusCode::kInvalidArgument, "--tls-client-ca: needs");
}

TEST_F(AccessTest, CallsNeedAToken) {
  options_.access.token_file = Write("token", "first\n\nsecond\n");
  Start();
  EXPECT_THAT(Ask(plain_, "Bearer first"), IsOk());
  EXPECT_THAT(Ask(plain_, "Bearer second"), IsOk());
  for (const char* wrong :
       {"", "first", "Bearer ", "Bearer firs", "Bearer first2", "Basic first"}) {
    EXPECT_THAT(Ask(plain_, wrong),
                StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("token")))
        << wrong;
  }
}

TEST_F(AccessTest, SoDoStreamsAndPlansButNotHealth) {
  options_.access.token_file = Write("token", "secret");
  Start();
  const auto channel = grpc::CreateChannel(server_->addresses()[0], plain_);
  const auto stub = v1::Planner::NewStub(channel);
  EXPECT_EQ(CheckHealth(channel, "").value_or(HealthStatus::UNKNOWN), HealthStatus::SERVING);
  for (const std::string& token : {std::string(), std::string("Bearer secret")}) {
    const auto expected =
        token.empty() ? absl::StatusCode::kUnauthenticated : absl::StatusCode::kNotFound;
    {
      grpc::ClientContext context;
      Prepare(context, token);
      v1::PlanResponse response;
      EXPECT_EQ(ToAbsl(stub->Plan(&context, {}, &response)).code(), expected);
    }
    {
      grpc::ClientContext context;
      Prepare(context, token);
      const auto stream = stub->PlanStream(&context);
      stream->Write({});
      stream->WritesDone();
      v1::PlanStreamResponse response;
      while (stream->Read(&response)) {
      }
      EXPECT_EQ(ToAbsl(stream->Finish()).code(), expected);
    }
    {
      grpc::ClientContext context;
      Prepare(context, token);
      const auto watch = stub->WatchPlans(&context, {});
      v1::WatchPlansResponse response;
      EXPECT_FALSE(watch->Read(&response));
      EXPECT_EQ(ToAbsl(watch->Finish()).code(), expected);
    }
  }
  const server::PlanRecorder::Refusals expected = {{{absl::StatusCode::kUnauthenticated, ""}, 3},
                                                   {{absl::StatusCode::kNotFound, ""}, 3}};
  EXPECT_EQ(server_->registry().recorder().refusals(), expected);
}

TEST_F(AccessTest, TokensAreReadAgain) {
  options_.access.token_file = Write("token", "first");
  Start();
  Write("token", "next\nfirst");
  EXPECT_TRUE(Eventually([&] { return Ask(plain_, "Bearer next").ok(); }));
  EXPECT_THAT(Ask(plain_, "Bearer first"), IsOk());
  // What is no good changes nothing, what comes after it does.
  Write("token", "open to everybody", 0644);
  std::this_thread::sleep_for(seconds(1));
  EXPECT_THAT(Ask(plain_, "Bearer next"), IsOk());
  Write("token", "mended", 0644);
  std::this_thread::sleep_for(seconds(1));
  // As it is advised then, without another change.
  ASSERT_EQ(chmod(options_.access.token_file.c_str(), 0600), 0);
  EXPECT_TRUE(Eventually([&] { return Ask(plain_, "Bearer mended").ok(); }));
  // Nobody waits for a FIFO's other end.
  std::filesystem::remove(options_.access.token_file);
  ASSERT_EQ(mkfifo(options_.access.token_file.c_str(), 0600), 0);
  std::this_thread::sleep_for(seconds(1));
  EXPECT_THAT(Ask(plain_, "Bearer mended"), IsOk());
  std::filesystem::remove(options_.access.token_file);
  Write("token", "last");
  EXPECT_TRUE(Eventually([&] { return Ask(plain_, "Bearer last").ok(); }));
  EXPECT_THAT(Ask(plain_, "Bearer mended"), StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(AccessTest, RefusesBadTokenFiles) {
  const struct {
    const char* content;
    mode_t mode;
    absl::StatusCode code;
    const char* text;
  } cases[] = {
      {"secret", 0604, absl::StatusCode::kFailedPrecondition, "chmod o-rw"},
      {"\n \n", 0600, absl::StatusCode::kInvalidArgument, "no token"},
      {"two words", 0600, absl::StatusCode::kInvalidArgument, "without blanks"},
  };
  for (const auto& c : cases) {
    options_.access.token_file = Write("token", c.content, c.mode);
    EXPECT_THAT(Server::Start(options_), StatusIs(c.code, HasSubstr(c.text)));
  }
  options_.access.token_file = (root_ / "missing").string();
  EXPECT_THAT(Server::Start(options_),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("--token-file: cannot read " + options_.access.token_file)));
}

}  // namespace
}  // namespace gdnplan::test
