// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The calls of the service, as messages. Everything above it works over any implementation: gRPC, a
// mock, a decorator of another one.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/stub_stream.h"
#include "gdnplan/v1/planner.pb.h"

namespace gdnplan::client {

struct CallContext {
  std::chrono::milliseconds deadline{10'000};
  // Whether to wait, within the deadline, for a server to listen.
  bool wait_for_ready = false;
};

// Thread safe. Errors are the server's own, or Unavailable and DeadlineExceeded of the transport.
class Stub {
 public:
  virtual ~Stub() = default;

  virtual absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(
      const CallContext& context, const v1::GetServerInfoRequest& request) = 0;
  virtual absl::StatusOr<v1::OpenSessionResponse> OpenSession(
      const CallContext& context, const v1::OpenSessionRequest& request) = 0;
  virtual absl::StatusOr<v1::AttachSessionResponse> AttachSession(
      const CallContext& context, const v1::AttachSessionRequest& request) = 0;
  virtual absl::StatusOr<v1::DetachSessionResponse> DetachSession(
      const CallContext& context, const v1::DetachSessionRequest& request) = 0;
  virtual absl::StatusOr<v1::CloseSessionResponse> CloseSession(
      const CallContext& context, const v1::CloseSessionRequest& request) = 0;
  virtual absl::StatusOr<v1::HeartbeatResponse> Heartbeat(const CallContext& context,
                                                          const v1::HeartbeatRequest& request) = 0;
  virtual absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const CallContext& context, const v1::ListSessionsRequest& request) = 0;
  virtual absl::StatusOr<v1::PlanResponse> Plan(const CallContext& context,
                                                const v1::PlanRequest& request) = 0;
  virtual absl::StatusOr<v1::UpdateBlockTableResponse> UpdateBlockTable(
      const CallContext& context, const v1::UpdateBlockTableRequest& request) = 0;

  // Streams keep what they need of the stub. poll: the thread that waits asks again and again, and
  // keeps a core busy, instead of sleeping. FailedPrecondition: not to be used in this process.
  virtual absl::StatusOr<std::unique_ptr<StubStream>> PlanStream(bool poll) = 0;
  virtual absl::StatusOr<std::unique_ptr<StubWatch>> WatchPlans(
      const v1::WatchPlansRequest& request, bool poll) = 0;
};

}  // namespace gdnplan::client
