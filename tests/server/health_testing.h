// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Clients of the standard health service.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace gdnplan::test {

using HealthStatus = grpc::health::v1::HealthCheckResponse;

inline absl::StatusOr<HealthStatus::ServingStatus> CheckHealth(
    const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  HealthStatus response;
  const grpc::Status status =
      grpc::health::v1::Health::NewStub(channel)->Check(&context, request, &response);
  if (status.ok()) return response.status();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

class HealthWatcher {
 public:
  HealthWatcher(const std::shared_ptr<grpc::Channel>& channel, const std::string& service)
      : stub_(grpc::health::v1::Health::NewStub(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    reader_ = stub_->Watch(&context_, request);
  }
  ~HealthWatcher() {
    if (finished_) return;
    Cancel();
    Finish().IgnoreError();
  }
  HealthWatcher(const HealthWatcher&) = delete;
  HealthWatcher& operator=(const HealthWatcher&) = delete;

  // Nothing: the watch ended.
  std::optional<HealthStatus::ServingStatus> Read() {
    HealthStatus response;
    if (!reader_->Read(&response)) return std::nullopt;
    return response.status();
  }
  void Cancel() { context_.TryCancel(); }
  // Once.
  absl::Status Finish() {
    finished_ = true;
    const grpc::Status status = reader_->Finish();
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

 private:
  std::unique_ptr<grpc::health::v1::Health::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<HealthStatus>> reader_;
  bool finished_ = false;
};

}  // namespace gdnplan::test
