// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a probe says of servers that are up and do not serve. Those that do: tool_test.cc.
#include "client/health.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "gdnplan/v1/planner.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;

class NotServing final : public Health::Service {
 public:
  grpc::Status Check(grpc::ServerContext*, const HealthCheckRequest*,
                     HealthCheckResponse* response) override {
    response->set_status(HealthCheckResponse::NOT_SERVING);
    return grpc::Status::OK;
  }
};

absl::Status Ask(const std::string& address) {
  return CheckHealth(address, {.connect_timeout = 30'000ms});
}

class Other {
 public:
  explicit Other(grpc::Service& service) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(HealthTest, AServerThatDoesNotServeIsNotHealthy) {
  NotServing service;
  const Other server(service);
  EXPECT_THAT(Ask(server.address()),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(server.address()), HasSubstr("says NOT_SERVING"))));
}

TEST(HealthTest, OneWithoutHealthIsNoPlanner) {
  v1::Planner::Service service;
  const Other server(service);
  EXPECT_THAT(Ask(server.address()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is no gdnplan server")));
}

}  // namespace
}  // namespace gdnplan::client
