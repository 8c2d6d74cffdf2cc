// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/health.h"

#include <grpcpp/client_context.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "client/connect.h"
#include "client/grpc_stub.h"
#include "gdnplan/plan/status.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "wire/deadline.h"
#include "wire/grpc_status.h"

namespace gdnplan::client {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

absl::Status CheckHealth(const std::string& address, const ClientOptions& options) {
  GDNPLAN_RETURN_IF_ERROR(CheckAddress(address));
  GDNPLAN_ASSIGN_OR_RETURN(const Credentials credentials, MakeCredentials(address, options));
  const std::unique_ptr<Health::Stub> stub = Health::NewStub(MakeChannel(address, credentials));
  HealthCheckResponse response;
  const auto ask = [&stub, &response](const CallContext& call) {
    grpc::ClientContext context;
    context.set_deadline(wire::DeadlineIn(call.deadline));
    context.set_wait_for_ready(call.wait_for_ready);
    return wire::FromGrpc(stub->Check(&context, HealthCheckRequest(), &response));
  };
  GDNPLAN_RETURN_IF_ERROR(AwaitServer(ask, address, options.connect_timeout));
  if (response.status() == HealthCheckResponse::SERVING) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      address, ": the server says ", HealthCheckResponse::ServingStatus_Name(response.status())));
}

}  // namespace gdnplan::client
