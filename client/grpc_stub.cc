// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/grpc_stub.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "client/grpc_streams.h"
#include "gdnplan/v1/planner.grpc.pb.h"
#include "wire/deadline.h"
#include "wire/grpc_status.h"
#include "wire/transport.h"

namespace gdnplan::client {
namespace {

grpc::ChannelArguments Arguments(const Credentials& credentials) {
  grpc::ChannelArguments arguments;
  // A server that starts after its client is to be found at once, not after a second.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  // Connections of two clients in one process fail and end independently.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy that the environment names for the web is none for a service on this machine.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  wire::TuneTransport([&arguments](const char* name, int value) { arguments.SetInt(name, value); });
  // No filters for what is not used here, such as compression; each takes its time from every
  // message. But deadlines are.
  arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 1);
  if (!credentials.server_name.empty()) {
    arguments.SetSslTargetNameOverride(credentials.server_name);
  }
  return arguments;
}

class GrpcStub final : public Stub {
 public:
  GrpcStub(const std::string& address, const Credentials& credentials)
      : pid_(getpid()),
        token_(credentials.token),
        stub_(v1::Planner::NewStub(MakeChannel(address, credentials))) {}

  ~GrpcStub() override {
    if (getpid() != pid_) static_cast<void>(stub_.release());
  }

  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(
      const CallContext& context, const v1::GetServerInfoRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::GetServerInfo);
  }
  absl::StatusOr<v1::OpenSessionResponse> OpenSession(
      const CallContext& context, const v1::OpenSessionRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::OpenSession);
  }
  absl::StatusOr<v1::AttachSessionResponse> AttachSession(
      const CallContext& context, const v1::AttachSessionRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::AttachSession);
  }
  absl::StatusOr<v1::DetachSessionResponse> DetachSession(
      const CallContext& context, const v1::DetachSessionRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::DetachSession);
  }
  absl::StatusOr<v1::CloseSessionResponse> CloseSession(
      const CallContext& context, const v1::CloseSessionRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::CloseSession);
  }
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(const CallContext& context,
                                                  const v1::HeartbeatRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::Heartbeat);
  }
  absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const CallContext& context, const v1::ListSessionsRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::ListSessions);
  }
  absl::StatusOr<v1::PlanResponse> Plan(const CallContext& context,
                                        const v1::PlanRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::Plan);
  }
  absl::StatusOr<v1::UpdateBlockTableResponse> UpdateBlockTable(
      const CallContext& context, const v1::UpdateBlockTableRequest& request) override {
    return Call(context, request, &v1::Planner::Stub::UpdateBlockTable);
  }

  absl::StatusOr<std::unique_ptr<StubStream>> PlanStream(bool poll) override {
    return MakeGrpcStream(*stub_, token_.get(), poll);
  }
  absl::StatusOr<std::unique_ptr<StubWatch>> WatchPlans(const v1::WatchPlansRequest& request,
                                                        bool poll) override {
    return MakeGrpcWatch(*stub_, token_.get(), request, poll);
  }

 private:
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(const CallContext& context, const Request& request,
                                grpc::Status (v1::Planner::Stub::*method)(grpc::ClientContext*,
                                                                          const Request&,
                                                                          Response*)) {
    grpc::ClientContext client_context;
    client_context.set_deadline(wire::DeadlineIn(context.deadline));
    client_context.set_wait_for_ready(context.wait_for_ready);
    if (token_ != nullptr) token_->AddTo(client_context);
    Response response;
    const grpc::Status status = (stub_.get()->*method)(&client_context, request, &response);
    if (!status.ok()) return wire::FromGrpc(status);
    return response;
  }

  const pid_t pid_;
  const std::shared_ptr<CallToken> token_;
  std::unique_ptr<v1::Planner::Stub> stub_;
};

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const Credentials& credentials) {
  return grpc::CreateCustomChannel(address, credentials.channel, Arguments(credentials));
}

std::shared_ptr<Stub> MakeGrpcStub(const std::string& address, const Credentials& credentials) {
  return std::make_shared<GrpcStub>(address, credentials);
}

}  // namespace gdnplan::client
