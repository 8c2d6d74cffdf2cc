// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The contract's service: from messages to the registry and back, and nothing else.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "server/rpc/planner_rpcs.h"
#include "server/rpc/poll_mode.h"
#include "server/rpc/stream_host.h"
#include "server/rpc/unary_call.h"
#include "server/session_log.h"
#include "server/session_registry.h"
#include "server/submission.h"
#include "server/work_queue.h"

namespace gdnplan::server {

struct ServiceOptions {
  uint32_t max_message_bytes = 0;
  std::string host_page_probe;  // name of a shared memory object that holds the boot id
  PollMode poll = PollMode::kAdaptive;
  StreamLimits streams;
  const TokenFile* tokens = nullptr;  // that calls need; none: they need none
};

// No handler blocks the thread that serves the completion queue: what is slow runs on queues of the
// service's own, and calls that wait are the sessions' business.
class PlannerService {
 public:
  // Registry and log must outlive the service, and the service its completion threads.
  PlannerService(SessionRegistry& registry, SessionLog& log, const ServiceOptions& options);

  grpc::Service& service() { return service_; }
  // Answers from now on. The first thread accepts; it and the others carry streams.
  void Serve(const CompletionThreads& threads);
  // Ends all streams, for the server shuts down.
  void StopStreams() { streams_.Stop(); }

 private:
  using Service = PlannerRpcs;

  // A unary call on its way through a session.
  template <typename Call>
  class UnarySubmission final : public Submission {
   public:
    void Start(Call& call, SessionRegistry& registry);
    void Done(const absl::StatusOr<PlanResult>& result) override;
    bool Abandoned() const override { return call_->cancelled(); }

   private:
    Call* call_ = nullptr;
    std::shared_ptr<Session> session_;
  };
  struct PlanState;
  struct UpdateState;

  using None = std::monostate;
  using InfoCall = UnaryCall<v1::GetServerInfoRequest, v1::GetServerInfoResponse, None>;
  // With the id of the session that was opened.
  using OpenCall = UnaryCall<v1::OpenSessionRequest, v1::OpenSessionResponse, std::string>;
  using AttachCall = UnaryCall<v1::AttachSessionRequest, v1::AttachSessionResponse, None>;
  using DetachCall = UnaryCall<v1::DetachSessionRequest, v1::DetachSessionResponse, None>;
  using CloseCall = UnaryCall<v1::CloseSessionRequest, v1::CloseSessionResponse, None>;
  using HeartbeatCall = UnaryCall<v1::HeartbeatRequest, v1::HeartbeatResponse, None>;
  using ListCall = UnaryCall<v1::ListSessionsRequest, v1::ListSessionsResponse, None>;
  using PlanCall = UnaryCall<v1::PlanRequest, v1::PlanResponse, PlanState>;
  using UpdateCall =
      UnaryCall<v1::UpdateBlockTableRequest, v1::UpdateBlockTableResponse, UpdateState>;
  struct PlanState {
    UnarySubmission<PlanCall> submission;
  };
  struct UpdateState {
    UnarySubmission<UpdateCall> submission;
  };

  // `request`: the generated service's Request... method.
  template <typename Call, typename RequestMethod>
  auto Requester(RequestMethod request);
  // The handler's status finishes the call. It runs on `work`, if given.
  template <typename Call, typename RequestMethod, typename Handler>
  typename Call::Method Make(RequestMethod request, Handler handler, WorkQueue* work = nullptr);
  template <typename Call, typename RequestMethod>
  typename Call::Method MakeSubmitted(RequestMethod request);
  OpenCall::Method MakeOpen();

  void GetServerInfo(v1::GetServerInfoResponse& response) const;
  absl::Status Open(OpenCall& call);
  absl::Status Attach(const v1::AttachSessionRequest& request, v1::AttachSessionResponse& response);
  absl::Status Detach(const v1::DetachSessionRequest& request);
  absl::Status Close(const std::string& id);
  absl::Status Heartbeat(const v1::HeartbeatRequest& request, v1::HeartbeatResponse& response);
  void Refused(const absl::Status& status) { registry_.recorder().Refused(status); }

  SessionRegistry& registry_;
  SessionLog& log_;
  const ServiceOptions options_;
  Service service_;
  StreamHost streams_;

  const InfoCall::Method info_;
  const OpenCall::Method open_;
  const AttachCall::Method attach_;
  const DetachCall::Method detach_;
  const CloseCall::Method close_;
  const HeartbeatCall::Method heartbeat_;
  const ListCall::Method list_;
  const PlanCall::Method plan_;
  const UpdateCall::Method update_;

  // Last, for their tasks use the others.
  WorkQueue opening_;
  WorkQueue closing_;  // apart: a close must neither wait for opens nor be refused
  WorkQueue quick_;    // what asks a driver, but allocates nothing
};

}  // namespace gdnplan::server
