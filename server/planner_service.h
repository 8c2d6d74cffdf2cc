// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The contract's service: from messages to the registry and back, and nothing else.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <string>

#include "gdnplan/v1/planner.grpc.pb.h"
#include "server/session_registry.h"
#include "server/work_queue.h"

namespace gdnplan::server {

struct ServiceOptions {
  uint32_t max_message_bytes = 0;
  std::string host_page_probe;  // name of a shared memory object that holds the boot id
};

// Thread safe. No method blocks its thread: what is slow runs on a queue of the service's own, and
// calls that wait are the sessions' business.
class PlannerService final : public v1::Planner::CallbackService {
 public:
  // The registry must outlive the service, and the service its server.
  PlannerService(SessionRegistry& registry, const ServiceOptions& options);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* OpenSession(grpc::CallbackServerContext* context,
                                        const v1::OpenSessionRequest* request,
                                        v1::OpenSessionResponse* response) override;
  grpc::ServerUnaryReactor* AttachSession(grpc::CallbackServerContext* context,
                                          const v1::AttachSessionRequest* request,
                                          v1::AttachSessionResponse* response) override;
  grpc::ServerUnaryReactor* CloseSession(grpc::CallbackServerContext* context,
                                         const v1::CloseSessionRequest* request,
                                         v1::CloseSessionResponse* response) override;
  grpc::ServerUnaryReactor* Heartbeat(grpc::CallbackServerContext* context,
                                      const v1::HeartbeatRequest* request,
                                      v1::HeartbeatResponse* response) override;
  grpc::ServerUnaryReactor* ListSessions(grpc::CallbackServerContext* context,
                                         const v1::ListSessionsRequest* request,
                                         v1::ListSessionsResponse* response) override;
  grpc::ServerUnaryReactor* Plan(grpc::CallbackServerContext* context,
                                 const v1::PlanRequest* request,
                                 v1::PlanResponse* response) override;
  grpc::ServerBidiReactor<v1::PlanStreamRequest, v1::PlanStreamResponse>* PlanStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<v1::WatchPlansResponse>* WatchPlans(
      grpc::CallbackServerContext* context, const v1::WatchPlansRequest* request) override;
  grpc::ServerUnaryReactor* UpdateBlockTable(grpc::CallbackServerContext* context,
                                             const v1::UpdateBlockTableRequest* request,
                                             v1::UpdateBlockTableResponse* response) override;

 private:
  SessionRegistry& registry_;
  const ServiceOptions options_;
  WorkQueue slow_;  // opening and closing
};

}  // namespace gdnplan::server
