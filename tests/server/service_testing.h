// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server in this process and calls to it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/json/owned_batch.h"
#include "gdnplan/v1/planner.grpc.pb.h"
#include "server/server.h"

namespace gdnplan::test {

// What a client sees of an RPC.
template <typename Request, typename Response>
using Method = grpc::Status (v1::Planner::Stub::*)(grpc::ClientContext*, const Request&, Response*);

class ServiceClient {
 public:
  explicit ServiceClient(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::Planner::NewStub(channel)) {}

  v1::Planner::Stub& stub() { return *stub_; }

  // With a deadline of 30 s.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(Method<Request, Response> method, const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    Response response;
    const grpc::Status status = ((*stub_).*method)(&context, request, &response);
    if (status.ok()) return response;
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

  absl::StatusOr<v1::SessionDescription> Open(const v1::OpenSessionRequest& request);
  absl::StatusOr<v1::Plan> Plan(const std::string& session_id, const json::OwnedBatch& batch);
  absl::Status Close(const std::string& session_id);

 private:
  std::unique_ptr<v1::Planner::Stub> stub_;
};

// Fills the message. Threads may share the batch, whose view() they may not.
void Fill(const json::OwnedBatch& batch, v1::Batch& message);

// SampleConfig's session.
v1::OpenSessionRequest SampleRequest();

// A server that listens nowhere, with that many host devices.
std::unique_ptr<server::Server> StartHosts(int num_devices,
                                           server::ServerOptions options = server::ServerOptions());

}  // namespace gdnplan::test
