// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What Prometheus gets from a server that did something.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "tests/server/service_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using ::testing::HasSubstr;

// To the loopback port; -1 when nobody listens.
int Connected(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Less than an HTTP server's patience with those who say nothing.
  const timeval patience{.tv_sec = 20, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

// The answer to GET /metrics on the loopback port, with its head.
std::string Fetch(int port) {
  const int fd = Connected(port);
  const std::string request =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  std::string answer;
  if (fd >= 0 &&
      write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
    }
  }
  close(fd);
  return answer;
}

class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest() : server_(StartHosts(2, Options())), client_(server_->InProcessChannel()) {}

  static server::ServerOptions Options() {
    server::ServerOptions options;
    options.metrics_listen = "127.0.0.1:0";
    return options;
  }

  int Port() const {
    const std::string url = server_->MetricsUrl();
    return std::stoi(url.substr(url.rfind(':') + 1));
  }

  // Sample lines by name and labels, as they are on the page.
  std::map<std::string, double> Samples() {
    std::istringstream page(Fetch(Port()));
    std::map<std::string, double> samples;
    for (std::string line; std::getline(page, line);) {
      const size_t space = line.rfind(' ');
      if (line.rfind("gdnplan_", 0) != 0 && line.rfind("process_", 0) != 0) continue;
      samples[line.substr(0, space)] = std::stod(line.substr(space));
    }
    return samples;
  }

  std::unique_ptr<server::Server> server_;
  ServiceClient client_;
};

TEST_F(MetricsTest, ComeThoughOtherConnectionsSayNothing) {
  int silent[3];
  for (int& fd : silent) fd = Connected(Port());
  EXPECT_EQ(Samples()["gdnplan_sessions"], 0);
  EXPECT_GT(Samples().size(), 10u);
  for (const int fd : silent) close(fd);
}

TEST_F(MetricsTest, SaysWhereTheyAre) {
  EXPECT_THAT(server_->StartupLine(), HasSubstr(", metrics: " + server_->MetricsUrl()));
  EXPECT_THAT(server_->MetricsUrl(), ::testing::MatchesRegex("http://127.0.0.1:[0-9]+/metrics"));
}

TEST_F(MetricsTest, CountWhatTheServerDid) {
  const auto session = client_.Open(SampleRequest());
  ASSERT_THAT(session, IsOk());
  const json::OwnedBatch batch = SampleBatch();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(client_.Plan(session->session_id(), batch), IsOk());
  json::OwnedBatch bad = batch;
  bad.seq_lens[0] = 1;
  EXPECT_FALSE(client_.Plan(session->session_id(), bad).ok());
  EXPECT_FALSE(client_.Plan("nobody", batch).ok());

  std::map<std::string, double> samples = Samples();
  EXPECT_EQ(samples["gdnplan_serving"], 1);
  EXPECT_EQ(samples[R"(gdnplan_calls_total{kind="plan"})"], 3);
  EXPECT_EQ(samples[R"(gdnplan_calls_total{kind="update"})"], 0);
  EXPECT_EQ(samples[R"(gdnplan_refusals_total{code="INVALID_ARGUMENT",field="seq_lens"})"], 1);
  EXPECT_EQ(samples[R"(gdnplan_refusals_total{code="NOT_FOUND",field=""})"], 1);
  for (const char* stage : {"parse", "wait", "plan", "ready", "total"}) {
    const std::string labels = std::string(R"({stage=")") + stage + R"("})";
    EXPECT_EQ(samples["gdnplan_stage_seconds_count" + labels], 3) << stage;
    EXPECT_EQ(
        samples[std::string(R"(gdnplan_stage_seconds_bucket{stage=")") + stage + R"(",le="+Inf"})"],
        3)
        << stage;
  }
  EXPECT_GT(samples[R"(gdnplan_stage_seconds_sum{stage="total"})"], 0);
  EXPECT_EQ(samples["gdnplan_sessions"], 1);
  EXPECT_EQ(samples["gdnplan_sessions_opened_total"], 1);
  EXPECT_EQ(samples["gdnplan_sessions_limit"], 64);
  EXPECT_EQ(samples["gdnplan_leases_lapsed_total"], 0);
  EXPECT_EQ(samples[R"(gdnplan_fills_total{device="host",fill="host"})"], 3);
  EXPECT_EQ(samples[R"(gdnplan_device_session_bytes{device="host"})"],
            static_cast<double>(session->arena_bytes()));
  EXPECT_EQ(samples[R"(gdnplan_device_session_bytes{device="host:1"})"], 0);
  EXPECT_GT(samples[R"(gdnplan_device_available_bytes{device="host"})"], 0);
  EXPECT_GT(samples["process_resident_memory_bytes"], 1 << 20);
  EXPECT_GT(samples["process_open_fds"], 3);

  ASSERT_THAT(client_.Close(session->session_id()), IsOk());
  samples = Samples();
  EXPECT_EQ(samples["gdnplan_sessions"], 0);
  EXPECT_EQ(samples["gdnplan_sessions_opened_total"], 1);
  EXPECT_EQ(samples[R"(gdnplan_device_session_bytes{device="host"})"], 0);
}

TEST_F(MetricsTest, AreNotForABusyPortOrAnotherKindOfAddress) {
  server::ServerOptions options;
  const std::string url = server_->MetricsUrl();
  options.metrics_listen = url.substr(7, url.rfind('/') - 7);
  EXPECT_THAT(server::Server::Start(options),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("metrics-listen: cannot listen on " + options.metrics_listen)));
  for (const char* address : {"unix:/tmp/x", "9400", "dns:localhost:1", "127.0.0.1:99999",
                              "383.0.0.1:0", "9400,127.0.0.1:0", "127.0.0:0", "a b:0"}) {
    options.metrics_listen = address;
    EXPECT_THAT(server::Server::Start(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("metrics-listen")))
        << address;
  }
}

}  // namespace
}  // namespace gdnplan::test
