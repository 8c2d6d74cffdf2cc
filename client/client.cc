// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/connect.h"
#include "client/credentials.h"
#include "client/describe.h"
#include "client/fork_guard_stub.h"
#include "client/grpc_stub.h"
#include "client/lease_keeper.h"
#include "client/posix_arena.h"
#include "client/session_state.h"
#include "client/stub.h"
#include "gdnplan/plan/status.h"
#include "wire/convert.h"
#include "wire/default_address.h"

namespace gdnplan::client {
namespace {

v1::SlotReuse ToProto(SlotReuse reuse) {
  switch (reuse) {
    case SlotReuse::kUnguarded:
      return v1::SLOT_REUSE_UNGUARDED;
    case SlotReuse::kConsumed:
      return v1::SLOT_REUSE_CONSUMED;
  }
  return v1::SLOT_REUSE_UNSPECIFIED;
}

absl::StatusOr<v1::OpenSessionRequest> ToRequest(const plan::PlanConfig& config,
                                                 const SessionOptions& options) {
  if (options.slot_wait.count() < 0 || options.slot_wait.count() > UINT32_MAX) {
    return plan::InvalidField("slot_wait_ms", absl::StrCat("must be in 0..", UINT32_MAX, " (got ",
                                                           options.slot_wait.count(), ")"));
  }
  v1::OpenSessionRequest request;
  *request.mutable_config() = wire::ToProto(config, options.num_slots);
  request.mutable_devices()->Add(options.devices.begin(), options.devices.end());
  request.set_name(options.name);
  request.set_slot_reuse(ToProto(options.slot_reuse));
  request.set_slot_wait_ms(static_cast<uint32_t>(options.slot_wait.count()));
  return request;
}

v1::TimelinePlace ToProto(TimelinePlace place, Stub& stub, const ClientOptions& options) {
  switch (place) {
    case TimelinePlace::kArena:
      return v1::TIMELINE_PLACE_ARENA;
    case TimelinePlace::kHostPage:
      return v1::TIMELINE_PLACE_HOST_PAGE;
    case TimelinePlace::kAuto:
      break;
  }
  const auto server = stub.GetServerInfo({.deadline = options.call_deadline}, {});
  const bool shared = server.ok() && SharesMemory(server->host_page_probe(), server->boot_id());
  return shared ? v1::TIMELINE_PLACE_HOST_PAGE : v1::TIMELINE_PLACE_ARENA;
}

absl::StatusOr<size_t> FindDevice(const SessionInfo& session, const std::string& id) {
  for (size_t i = 0; i < session.arenas.size(); ++i) {
    if (session.arenas[i].device.id == id) return i;
  }
  const auto append_id = [](std::string* out, const ArenaInfo& arena) {
    out->append(arena.device.id);
  };
  return plan::InvalidField("devices",
                            absl::StrCat("the session is not on \"", id, "\"; it is on ",
                                         absl::StrJoin(session.arenas, ", ", append_id)));
}

absl::Status MapArenas(const SessionState& state, const std::vector<size_t>& devices) {
  for (const size_t device : devices) {
    GDNPLAN_RETURN_IF_ERROR(state.Arena(device).status());
  }
  return absl::OkStatus();
}

std::vector<size_t> AllDevices(const SessionInfo& session) {
  std::vector<size_t> devices(session.arenas.size());
  for (size_t i = 0; i < devices.size(); ++i) devices[i] = i;
  return devices;
}

}  // namespace

absl::StatusOr<Client> Client::Connect(const std::string& address, const ClientOptions& options) {
  const std::string target = address.empty() ? wire::ServerAddress() : address;
  GDNPLAN_RETURN_IF_ERROR(CheckAddress(target));
  GDNPLAN_ASSIGN_OR_RETURN(const Credentials credentials, MakeCredentials(target, options));
  std::shared_ptr<Stub> stub = MakeGrpcStub(target, credentials);
  const auto ask = [&stub](const CallContext& context) {
    return stub->GetServerInfo(context, {}).status();
  };
  GDNPLAN_RETURN_IF_ERROR(AwaitServer(ask, target, options.connect_timeout));
  return Client(std::move(stub), options);
}

Client::Client(std::shared_ptr<Stub> stub, const ClientOptions& options)
    : stub_(MakeForkGuardStub(std::move(stub))),
      keeper_(std::make_shared<LeaseKeeper>()),
      options_(options) {}

absl::StatusOr<Session> Client::OpenSession(const plan::PlanConfig& config,
                                            const SessionOptions& options) const {
  GDNPLAN_ASSIGN_OR_RETURN(v1::OpenSessionRequest request, ToRequest(config, options));
  request.set_timeline(ToProto(options.timeline, *stub_, options_));
  const auto response = stub_->OpenSession({.deadline = options_.open_deadline}, request);
  if (!response.ok()) return response.status();
  absl::StatusOr<SessionInfo> info = Describe(response->session());
  if (!info.ok()) {
    v1::CloseSessionRequest close;
    close.set_session_id(response->session().session_id());
    stub_->CloseSession({.deadline = options_.call_deadline}, close).status().IgnoreError();
    return info.status();
  }
  auto state = std::make_shared<SessionState>(SessionState::Parts{.stub = stub_,
                                                                  .info = *std::move(info),
                                                                  .options = options_,
                                                                  .owner = true,
                                                                  .keeper = keeper_});
  Session session(state, 0);  // from here on its destructor closes
  GDNPLAN_RETURN_IF_ERROR(keeper_->Keep(state));
  if (options.map_now) GDNPLAN_RETURN_IF_ERROR(MapArenas(*state, AllDevices(state->info())));
  return session;
}

absl::StatusOr<Session> Client::AttachSession(const std::string& session_id,
                                              const AttachOptions& options) const {
  v1::AttachSessionRequest request;
  request.set_session_id(session_id);
  auto response = stub_->AttachSession({.deadline = options_.call_deadline}, request);
  if (!response.ok()) return response.status();
  GDNPLAN_ASSIGN_OR_RETURN(SessionInfo info, Describe(response->session()));
  std::vector<size_t> devices;
  for (const std::string& id : options.devices) {
    GDNPLAN_ASSIGN_OR_RETURN(const size_t device, FindDevice(info, id));
    devices.push_back(device);
  }
  if (devices.empty()) devices = AllDevices(info);
  auto state =
      std::make_shared<SessionState>(SessionState::Parts{.stub = stub_,
                                                         .info = std::move(info),
                                                         .options = options_,
                                                         .attachment_id = response->attachment_id(),
                                                         .keeper = keeper_});
  Session session(state, devices.front());  // from here on its destructor detaches
  GDNPLAN_RETURN_IF_ERROR(keeper_->Keep(state));
  if (options.map_now) GDNPLAN_RETURN_IF_ERROR(MapArenas(*state, devices));
  if (options.consumer) {
    // Only now: this process can take over, and what the consumer before it held is released.
    request.set_attachment_id(state->attachment_id());
    for (const size_t device : devices)
      request.add_consumer_of(state->info().arenas[device].device.id);
    response = stub_->AttachSession({.deadline = options_.call_deadline}, request);
    if (!response.ok()) return response.status();
  }
  return session;
}

absl::StatusOr<ServerInfo> Client::GetServerInfo() const {
  const auto response = stub_->GetServerInfo({.deadline = options_.call_deadline}, {});
  if (!response.ok()) return response.status();
  return Describe(*response);
}

absl::StatusOr<std::vector<SessionSummary>> Client::ListSessions() const {
  const auto response = stub_->ListSessions({.deadline = options_.call_deadline}, {});
  if (!response.ok()) return response.status();
  std::vector<SessionSummary> sessions;
  for (const v1::SessionSummary& message : response->sessions()) {
    GDNPLAN_ASSIGN_OR_RETURN(SessionSummary summary, Describe(message));
    sessions.push_back(std::move(summary));
  }
  return sessions;
}

}  // namespace gdnplan::client
