// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/server/service_testing.h"

#include <gtest/gtest.h>

#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"
#include "wire/convert.h"

namespace gdnplan::test {

absl::StatusOr<v1::SessionDescription> ServiceClient::Open(const v1::OpenSessionRequest& request) {
  const auto response = Call(&v1::Planner::Stub::OpenSession, request);
  if (!response.ok()) return response.status();
  return response->session();
}

absl::StatusOr<v1::Plan> ServiceClient::Plan(const std::string& session_id,
                                             const json::OwnedBatch& batch) {
  v1::PlanRequest request;
  request.set_session_id(session_id);
  Fill(batch, *request.mutable_batch());
  const auto response = Call(&v1::Planner::Stub::Plan, request);
  if (!response.ok()) return response.status();
  return response->plan();
}

absl::Status ServiceClient::Close(const std::string& session_id) {
  v1::CloseSessionRequest request;
  request.set_session_id(session_id);
  return Call(&v1::Planner::Stub::CloseSession, request).status();
}

void Fill(const json::OwnedBatch& batch, v1::Batch& message) {
  const json::OwnedBatch own = batch;
  wire::ToProto(own.view(), message);
}

v1::OpenSessionRequest SampleRequest() {
  v1::OpenSessionRequest request;
  *request.mutable_config() = wire::ToProto(SampleConfig(), 1);
  request.set_name("sample");
  return request;
}

std::unique_ptr<server::Server> StartHosts(int num_devices, server::ServerOptions options) {
  options.device = "host:" + std::to_string(num_devices);
  auto server = server::Server::Start(options);
  EXPECT_THAT(server, IsOk());
  return *std::move(server);
}

}  // namespace gdnplan::test
