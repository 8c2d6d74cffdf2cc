// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gRPC's standard health service.
#pragma once

#include <grpcpp/grpcpp.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/mutex.h"
#include "server/rpc/completion_thread.h"
#include "server/rpc/unary_call.h"

namespace gdnplan::server {

class HealthWatch;

// One status for the server and its services. Thread safe. Must outlive the completion thread.
class HealthService {
 public:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // Watchers at a time.
  static constexpr size_t kMaxWatches = 64;

  // `services`: the names that are known beside the empty one.
  explicit HealthService(std::vector<std::string> services);

  grpc::Service& service() { return service_; }
  // Answers from now on.
  void Serve(CompletionThread& thread);
  void SetServing(bool serving);
  bool serving() const;
  // Ends all watches: the server shuts down.
  void Stop();

 private:
  friend class HealthWatch;
  using CheckCall = UnaryCall<grpc::health::v1::HealthCheckRequest,
                              grpc::health::v1::HealthCheckResponse, std::monostate>;

  bool Knows(const std::string& service) const;
  // Unavailable when stopped, ResourceExhausted when there are too many. Otherwise the watch is
  // told of the status now and of every change until it is removed.
  absl::Status Add(HealthWatch& watch);
  void Remove(HealthWatch& watch);

  const std::vector<std::string> names_;
  grpc::health::v1::Health::AsyncService service_;
  const CheckCall::Method check_;

  mutable Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<HealthWatch*> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gdnplan::server
