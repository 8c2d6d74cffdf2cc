// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/planner_service.h"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "gdnplan/plan/status.h"
#include "server/cuda_devices.h"
#include "server/describe.h"
#include "server/out_of_memory.h"
#include "server/session_options.h"
#include "server/version.h"

namespace gdnplan::server {

template <typename Call>
void PlannerService::UnarySubmission<Call>::Start(Call& call, SessionRegistry& registry) {
  call_ = &call;
  const absl::Status taken = CatchOutOfMemory([&] {
    GDNPLAN_ASSIGN_OR_RETURN(session_, registry.Find(call.request().session_id()));
    return Take(call.request());
  });
  if (!taken.ok()) {
    registry.recorder().Refused(taken, session_ == nullptr ? 0 : session_->number());
    return call.Finish(taken);
  }
  session_->Submit(*this);
}

template <typename Call>
void PlannerService::UnarySubmission<Call>::Done(const absl::StatusOr<PlanResult>& result) {
  call_->Finish(CatchOutOfMemory([&] {
    if (result.ok()) Describe(*result, *call_->response().mutable_plan());
    return result.status();
  }));
}

template <typename Call, typename RequestMethod>
auto PlannerService::Requester(RequestMethod request) {
  return [this, request](auto* context, auto* message, auto* writer, auto* queue, Tag* tag) {
    (service_.*request)(context, message, writer, queue, queue, tag);
  };
}

template <typename Call, typename RequestMethod, typename Handler>
typename Call::Method PlannerService::Make(RequestMethod request, Handler handler,
                                           WorkQueue* work) {
  return {.request = Requester<Call>(request),
          .handle =
              [this, handler, work](Call& call) {
                const auto finish = [this, &call](const absl::Status& status) {
                  if (!status.ok()) Refused(status);
                  call.Finish(status);
                };
                const auto run = [handler, finish, &call] {
                  // What nobody waits for any more is not begun.
                  finish(CatchOutOfMemory([&] {
                    return call.cancelled() ? absl::CancelledError("the caller gave up")
                                            : handler(call);
                  }));
                };
                if (work == nullptr) return run();
                const absl::Status queued = CatchOutOfMemory([&] { return work->Run(run); });
                if (!queued.ok()) finish(queued);
              },
          .over = nullptr,
          .tokens = options_.tokens,
          .refused = [this](const absl::Status& status) { Refused(status); }};
}

template <typename Call, typename RequestMethod>
typename Call::Method PlannerService::MakeSubmitted(RequestMethod request) {
  return {.request = Requester<Call>(request),
          .handle = [this](Call& call) { call.state().submission.Start(call, registry_); },
          .over = nullptr,
          .tokens = options_.tokens,
          .refused = [this](const absl::Status& status) { Refused(status); }};
}

PlannerService::OpenCall::Method PlannerService::MakeOpen() {
  auto method = Make<OpenCall>(
      &Service::RequestOpenSession, [this](OpenCall& call) { return Open(call); }, &opening_);
  method.over = [this](OpenCall& call) {
    const std::string& id = call.state();
    if (id.empty() || !call.cancelled()) return;
    // Nobody knows it. gRPC's thread must not wait for a device; but a session in vain must go.
    if (!closing_.Run([this, id] { Close(id).IgnoreError(); }).ok()) Close(id).IgnoreError();
  };
  return method;
}

PlannerService::PlannerService(SessionRegistry& registry, SessionLog& log,
                               const ServiceOptions& options)
    : registry_(registry),
      log_(log),
      options_(options),
      streams_(service_, registry, options.streams, options.tokens),
      info_(Make<InfoCall>(
          &Service::RequestGetServerInfo,
          [this](InfoCall& call) {
            GetServerInfo(call.response());
            return absl::OkStatus();
          },
          &quick_)),
      open_(MakeOpen()),
      attach_(Make<AttachCall>(
          &Service::RequestAttachSession,
          [this](AttachCall& call) { return Attach(call.request(), call.response()); }, &quick_)),
      detach_(Make<DetachCall>(&Service::RequestDetachSession,
                               [this](DetachCall& call) { return Detach(call.request()); })),
      close_(Make<CloseCall>(
          &Service::RequestCloseSession,
          [this](CloseCall& call) { return Close(call.request().session_id()); }, &closing_)),
      heartbeat_(Make<HeartbeatCall>(
          &Service::RequestHeartbeat,
          [this](HeartbeatCall& call) { return Heartbeat(call.request(), call.response()); })),
      list_(Make<ListCall>(&Service::RequestListSessions,
                           [this](ListCall& call) {
                             for (const auto& session : registry_.List()) {
                               Summarize(*session, *call.response().add_sessions());
                             }
                             return absl::OkStatus();
                           })),
      plan_(MakeSubmitted<PlanCall>(&Service::RequestPlan)),
      update_(MakeSubmitted<UpdateCall>(&Service::RequestUpdateBlockTable)),
      opening_({.threads = 2}),
      closing_({.threads = 1, .waiting = std::numeric_limits<size_t>::max()}),
      quick_({.threads = 1}) {}

void PlannerService::Serve(const CompletionThreads& threads) {
  CompletionThread& acceptor = *threads.front();
  InfoCall::Post(info_, acceptor);
  OpenCall::Post(open_, acceptor);
  AttachCall::Post(attach_, acceptor);
  DetachCall::Post(detach_, acceptor);
  CloseCall::Post(close_, acceptor);
  HeartbeatCall::Post(heartbeat_, acceptor);
  ListCall::Post(list_, acceptor);
  PlanCall::Post(plan_, acceptor);
  UpdateCall::Post(update_, acceptor);
  streams_.Serve(threads);
}

void PlannerService::GetServerInfo(v1::GetServerInfoResponse& response) const {
  response.set_version(kVersion);
  response.set_boot_id(registry_.boot().hex());
  for (const auto& device : registry_.devices()) Describe(device->info(), *response.add_devices());
  v1::GetServerInfoResponse::Capabilities& capabilities = *response.mutable_capabilities();
  capabilities.set_plan_stream(true);
  capabilities.set_watch_plans(true);
  capabilities.set_cuda(BuiltWithCuda());
  for (const v1::Device& device : response.devices()) {
    if (device.kind() == v1::DEVICE_KIND_CUDA) capabilities.set_timeline_waits(true);
  }
  v1::GetServerInfoResponse::Limits& limits = *response.mutable_limits();
  const Limits& own = registry_.limits();
  limits.set_max_sessions(static_cast<uint32_t>(own.max_sessions));
  limits.set_max_message_bytes(options_.max_message_bytes);
  limits.set_max_groups(static_cast<uint32_t>(own.max_groups));
  limits.set_max_slots(static_cast<uint32_t>(own.max_slots));
  limits.set_max_num_seqs(static_cast<uint32_t>(own.max_num_seqs));
  limits.set_max_num_batched_tokens(static_cast<uint32_t>(own.max_num_batched_tokens));
  limits.set_max_session_bytes(own.max_session_bytes);
  limits.set_max_device_bytes(own.max_device_bytes);
  limits.set_max_followers(static_cast<uint32_t>(own.max_followers));
  limits.set_max_plans_in_flight(static_cast<uint32_t>(options_.streams.max_plans_in_flight));
  limits.set_max_streams(static_cast<uint32_t>(options_.streams.max_streams));
  response.set_host_page_probe(options_.host_page_probe);
  response.set_poll(ToString(options_.poll));
  response.set_lease_ms(static_cast<uint64_t>(registry_.lease().length.count()));
  response.set_grace_ms(static_cast<uint64_t>(registry_.lease().grace.count()));
  response.set_num_leases_lapsed(registry_.num_lapsed());
  response.set_num_sessions(static_cast<uint32_t>(registry_.size()));
  response.set_uptime_ms(static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(registry_.boot().uptime()).count()));
}

absl::Status PlannerService::Open(OpenCall& call) {
  const v1::OpenSessionRequest& request = call.request();
  GDNPLAN_ASSIGN_OR_RETURN(SessionOptions options, OptionsOf(request));
  const std::vector<std::string> devices(request.devices().begin(), request.devices().end());
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session,
                           registry_.Open(std::move(options), devices));
  call.state() = session->id();
  Describe(*session, registry_.boot(), *call.response().mutable_session());
  log_.Opened(*session);
  return absl::OkStatus();
}

absl::Status PlannerService::Attach(const v1::AttachSessionRequest& request,
                                    v1::AttachSessionResponse& response) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session,
                           registry_.Find(request.session_id()));
  const auto now = Session::Clock::now();
  if (request.attachment_id() != 0) {
    GDNPLAN_RETURN_IF_ERROR(session->leases().RenewAttached(request.attachment_id(), now));
  }
  GDNPLAN_RETURN_IF_ERROR(
      session->ReleaseConsumers({request.consumer_of().begin(), request.consumer_of().end()}));
  Describe(*session, registry_.boot(), *response.mutable_session());
  response.set_attachment_id(request.attachment_id() != 0 ? request.attachment_id()
                                                          : session->leases().Attach(now));
  return absl::OkStatus();
}

absl::Status PlannerService::Detach(const v1::DetachSessionRequest& request) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session,
                           registry_.FindAny(request.session_id()));
  return session->leases().Detach(request.attachment_id());
}

absl::Status PlannerService::Close(const std::string& id) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, registry_.Find(id));
  GDNPLAN_RETURN_IF_ERROR(registry_.Close(id));
  log_.Closed(*session);
  return absl::OkStatus();
}

absl::Status PlannerService::Heartbeat(const v1::HeartbeatRequest& request,
                                       v1::HeartbeatResponse& response) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session,
                           registry_.Find(request.session_id()));
  if (request.consumption_promised() > 0) session->Promise(request.consumption_promised());
  SessionLeases& leases = session->leases();
  const auto now = Session::Clock::now();
  if (request.attachment_id() == 0) {
    leases.Renew(now);
    response.set_lease_ms(LeftMilliseconds(leases.Left(now)));
  } else {
    GDNPLAN_RETURN_IF_ERROR(leases.RenewAttached(request.attachment_id(), now));
    response.set_lease_ms(LeftMilliseconds(leases.LeftAttached(request.attachment_id(), now)));
  }
  response.set_last_plan_id(session->statistics().last_plan_id);
  return absl::OkStatus();
}

}  // namespace gdnplan::server
