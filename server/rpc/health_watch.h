// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One client that watches the health.
#pragma once

#include <optional>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/mutex.h"
#include "server/rpc/health_service.h"
#include "server/rpc/rpc_call.h"

namespace gdnplan::server {

class HealthWatch final : public RpcCall {
 public:
  static void Post(HealthService& health, CompletionThread& thread) {
    new HealthWatch(health, thread);
  }

  const std::string& service() const { return request_.service(); }
  // From any thread, while the watch is added.
  void Tell(HealthService::Status status);
  void End(const absl::Status& reason);

 private:
  HealthWatch(HealthService& health, CompletionThread& thread);

  void OnStart() override;
  void OnOver() override;
  void OnWritten(bool ok);
  void OnFinished(bool /*ok*/) { EndOperation(); }
  // Writes the newest status that was not written, or finishes.
  void Continue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  HealthService& health_;
  grpc::health::v1::HealthCheckRequest request_;
  grpc::ServerAsyncWriter<grpc::health::v1::HealthCheckResponse> writer_;

  Mutex mutex_;
  std::optional<HealthService::Status> next_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  MemberTag<HealthWatch, &HealthWatch::OnWritten> write_tag_{*this};
  MemberTag<HealthWatch, &HealthWatch::OnFinished> finish_tag_{*this};
};

}  // namespace gdnplan::server
