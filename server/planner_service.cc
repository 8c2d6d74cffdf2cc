// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/planner_service.h"

#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"
#include "server/call_reactor.h"
#include "server/cuda_devices.h"
#include "server/describe.h"
#include "server/open_reactor.h"
#include "server/version.h"
#include "wire/convert.h"
#include "wire/grpc_status.h"

namespace gdnplan::server {
namespace {

constexpr size_t kMaxNameBytes = 128;

grpc::ServerUnaryReactor* Reply(grpc::CallbackServerContext* context, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(wire::ToGrpc(status));
  return reactor;
}

absl::StatusOr<Completion> FromProto(v1::Completion completion) {
  switch (completion) {
    case v1::COMPLETION_UNSPECIFIED:
    case v1::COMPLETION_ENQUEUED:
      return Completion::kEnqueued;
    case v1::COMPLETION_WAIT:
      return Completion::kWait;
    default:
      return plan::InvalidField("completion", absl::StrCat("unknown value (got ", completion, ")"));
  }
}

absl::StatusOr<TimelinePlace> FromProto(v1::TimelinePlace place) {
  switch (place) {
    case v1::TIMELINE_PLACE_UNSPECIFIED:
    case v1::TIMELINE_PLACE_ARENA:
      return TimelinePlace::kArena;
    case v1::TIMELINE_PLACE_HOST_PAGE:
      return TimelinePlace::kHostPage;
    default:
      return plan::InvalidField("timeline", absl::StrCat("unknown value (got ", place, ")"));
  }
}

absl::StatusOr<bool> IsGuarded(v1::SlotReuse reuse) {
  switch (reuse) {
    case v1::SLOT_REUSE_UNSPECIFIED:
    case v1::SLOT_REUSE_UNGUARDED:
      return false;
    case v1::SLOT_REUSE_CONSUMED:
      return true;
    default:
      return plan::InvalidField("slot_reuse", absl::StrCat("unknown value (got ", reuse, ")"));
  }
}

absl::StatusOr<SessionOptions> OptionsOf(const v1::OpenSessionRequest& request) {
  if (request.name().size() > kMaxNameBytes) {
    return plan::InvalidField("name", absl::StrCat("must have at most ", kMaxNameBytes,
                                                   " bytes (got ", request.name().size(), ")"));
  }
  SessionOptions options;
  GDNPLAN_ASSIGN_OR_RETURN(options.config, wire::FromProto(request.config()));
  GDNPLAN_ASSIGN_OR_RETURN(options.guarded, IsGuarded(request.slot_reuse()));
  GDNPLAN_ASSIGN_OR_RETURN(options.timeline, FromProto(request.timeline()));
  options.num_slots = wire::NumSlots(request.config());
  options.name = request.name();
  if (request.slot_wait_ms() > 0) {
    options.slot_wait = std::chrono::milliseconds(request.slot_wait_ms());
  }
  return options;
}

absl::Status Open(SessionRegistry& registry, const v1::OpenSessionRequest& request,
                  v1::SessionDescription& answer) {
  GDNPLAN_ASSIGN_OR_RETURN(SessionOptions options, OptionsOf(request));
  const std::vector<std::string> devices(request.devices().begin(), request.devices().end());
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session,
                           registry.Open(std::move(options), devices));
  Describe(*session, registry.boot(), answer);
  spdlog::info("session {} \"{}\" opened: {} slots of {} bytes on {} devices", session->number(),
               absl::CHexEscape(session->options().name), session->layout().num_slots,
               session->layout().slot_stride, session->arenas().size());
  return absl::OkStatus();
}

absl::Status CloseOne(SessionRegistry& registry, const std::string& id) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, registry.Find(id));
  GDNPLAN_RETURN_IF_ERROR(registry.Close(id));
  spdlog::info("session {} closed after {} plans", session->number(),
               session->statistics().num_plans);
  return absl::OkStatus();
}

// A stream that is over before it begins.
template <typename Reactor>
class RefusedStream final : public Reactor {
 public:
  explicit RefusedStream(const absl::Status& status) { this->Finish(wire::ToGrpc(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

PlannerService::PlannerService(SessionRegistry& registry, const ServiceOptions& options)
    : registry_(registry), options_(options), slow_(WorkQueue::Limits()) {}

grpc::ServerUnaryReactor* PlannerService::GetServerInfo(grpc::CallbackServerContext* context,
                                                        const v1::GetServerInfoRequest* /*request*/,
                                                        v1::GetServerInfoResponse* response) {
  response->set_version(kVersion);
  response->set_boot_id(registry_.boot().hex());
  for (const auto& device : registry_.devices()) Describe(device->info(), *response->add_devices());
  v1::GetServerInfoResponse::Capabilities& capabilities = *response->mutable_capabilities();
  capabilities.set_cuda(BuiltWithCuda());
  for (const v1::Device& device : response->devices()) {
    if (device.kind() == v1::DEVICE_KIND_CUDA) capabilities.set_timeline_waits(true);
  }
  v1::GetServerInfoResponse::Limits& limits = *response->mutable_limits();
  limits.set_max_sessions(static_cast<uint32_t>(registry_.limits().max_sessions));
  limits.set_max_message_bytes(options_.max_message_bytes);
  limits.set_max_groups(plan::kMaxGroups);
  limits.set_max_slots(plan::kMaxSlots);
  response->set_host_page_probe(options_.host_page_probe);
  response->set_num_sessions(static_cast<uint32_t>(registry_.size()));
  response->set_uptime_ms(static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(registry_.boot().uptime()).count()));
  return Reply(context, absl::OkStatus());
}

grpc::ServerUnaryReactor* PlannerService::OpenSession(grpc::CallbackServerContext* context,
                                                      const v1::OpenSessionRequest* request,
                                                      v1::OpenSessionResponse* response) {
  auto* reactor = new OpenReactor(*context, [this](const std::string& id) {
    // gRPC's thread must not wait for a device; but a session in vain must go.
    if (!slow_.Run([this, id] { CloseOne(registry_, id).IgnoreError(); }).ok()) {
      CloseOne(registry_, id).IgnoreError();
    }
  });
  const absl::Status queued = slow_.Run([this, request, response, reactor] {
    v1::SessionDescription& session = *response->mutable_session();
    const absl::Status status = Open(registry_, *request, session);
    reactor->Answer(status, session.session_id());
  });
  if (!queued.ok()) reactor->Answer(queued, {});
  return reactor;
}

grpc::ServerUnaryReactor* PlannerService::AttachSession(grpc::CallbackServerContext* context,
                                                        const v1::AttachSessionRequest* request,
                                                        v1::AttachSessionResponse* response) {
  const auto session = registry_.Find(request->session_id());
  if (!session.ok()) return Reply(context, session.status());
  const absl::Status released =
      (*session)->ReleaseConsumers({request->consumer_of().begin(), request->consumer_of().end()});
  if (released.ok()) Describe(**session, registry_.boot(), *response->mutable_session());
  return Reply(context, released);
}

grpc::ServerUnaryReactor* PlannerService::CloseSession(grpc::CallbackServerContext* context,
                                                       const v1::CloseSessionRequest* request,
                                                       v1::CloseSessionResponse* /*response*/) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::Status queued = slow_.Run([this, request, reactor] {
    reactor->Finish(wire::ToGrpc(CloseOne(registry_, request->session_id())));
  });
  if (!queued.ok()) reactor->Finish(wire::ToGrpc(queued));
  return reactor;
}

grpc::ServerUnaryReactor* PlannerService::Heartbeat(grpc::CallbackServerContext* context,
                                                    const v1::HeartbeatRequest* request,
                                                    v1::HeartbeatResponse* response) {
  const auto session = registry_.Find(request->session_id());
  if (session.ok()) {
    if (request->consumption_promised() > 0) (*session)->Promise(request->consumption_promised());
    response->set_last_plan_id((*session)->statistics().last_plan_id);
  }
  return Reply(context, session.status());
}

grpc::ServerUnaryReactor* PlannerService::ListSessions(grpc::CallbackServerContext* context,
                                                       const v1::ListSessionsRequest* /*request*/,
                                                       v1::ListSessionsResponse* response) {
  for (const auto& session : registry_.List()) Summarize(*session, *response->add_sessions());
  return Reply(context, absl::OkStatus());
}

grpc::ServerUnaryReactor* PlannerService::Plan(grpc::CallbackServerContext* context,
                                               const v1::PlanRequest* request,
                                               v1::PlanResponse* response) {
  auto session = registry_.Find(request->session_id());
  if (!session.ok()) return Reply(context, session.status());
  const auto completion = FromProto(request->completion());
  if (!completion.ok()) return Reply(context, completion.status());
  auto call =
      std::make_unique<CallReactor>(*context, *std::move(session), *response->mutable_plan());
  const auto batch = wire::FromProto(request->batch(), call->tables());
  if (!batch.ok()) return Reply(context, batch.status());
  call->input = *batch;
  call->consumption_promised = request->consumption_promised();
  call->completion = *completion;
  call->Start();
  return call.release();
}

grpc::ServerUnaryReactor* PlannerService::UpdateBlockTable(
    grpc::CallbackServerContext* context, const v1::UpdateBlockTableRequest* request,
    v1::UpdateBlockTableResponse* response) {
  auto session = registry_.Find(request->session_id());
  if (!session.ok()) return Reply(context, session.status());
  const auto completion = FromProto(request->completion());
  if (!completion.ok()) return Reply(context, completion.status());
  auto call =
      std::make_unique<CallReactor>(*context, *std::move(session), *response->mutable_plan());
  call->input = UpdateInput{.plan_id = request->plan_id(),
                            .group = request->group(),
                            .table = wire::FromProto(request->block_table())};
  call->completion = *completion;
  call->Start();
  return call.release();
}

grpc::ServerBidiReactor<v1::PlanStreamRequest, v1::PlanStreamResponse>* PlannerService::PlanStream(
    grpc::CallbackServerContext* /*context*/) {
  using Stream = grpc::ServerBidiReactor<v1::PlanStreamRequest, v1::PlanStreamResponse>;
  return new RefusedStream<Stream>(
      absl::UnimplementedError("this server does not stream plans; use Plan"));
}

grpc::ServerWriteReactor<v1::WatchPlansResponse>* PlannerService::WatchPlans(
    grpc::CallbackServerContext* /*context*/, const v1::WatchPlansRequest* /*request*/) {
  using Stream = grpc::ServerWriteReactor<v1::WatchPlansResponse>;
  return new RefusedStream<Stream>(
      absl::UnimplementedError("this server does not announce plans to followers"));
}

}  // namespace gdnplan::server
