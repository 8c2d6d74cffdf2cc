// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/describe.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"
#include "wire/convert.h"

namespace gdnplan::client {
namespace {

using plan::ToAbsl;

absl::Status Bad(std::string_view field, std::string_view reason) {
  return absl::InternalError(absl::StrCat(
      "the server's description of the session is wrong: ", ToAbsl(field), ": ", ToAbsl(reason)));
}

FillMode ToFillMode(v1::FillMode mode) {
  switch (mode) {
    case v1::FILL_MODE_UNSPECIFIED:
      return FillMode::kNone;
    case v1::FILL_MODE_AUTO:
      return FillMode::kAuto;
    case v1::FILL_MODE_COPY:
      return FillMode::kCopy;
    case v1::FILL_MODE_KERNEL:
      return FillMode::kKernel;
    default:
      return FillMode::kUnknown;
  }
}

DeviceInfo ToDevice(const v1::Device& message) {
  DeviceInfo device;
  switch (message.kind()) {
    case v1::DEVICE_KIND_HOST:
      device.kind = DeviceKind::kHost;
      break;
    case v1::DEVICE_KIND_CUDA:
      device.kind = DeviceKind::kCuda;
      break;
    default:  // open enumeration: a newer server may have more
      break;
  }
  device.id = message.id();
  device.name = message.name();
  device.memory_bytes = message.memory_bytes();
  device.available_bytes = message.available_bytes();
  device.fill_mode = ToFillMode(message.fill_mode());
  device.mps = message.mps();
  device.fills = {message.fills().host(), message.fills().copy(), message.fills().kernel()};
  return device;
}

ArenaInfo ToArena(const v1::Arena& message) {
  ArenaInfo arena;
  arena.device = ToDevice(message.device());
  switch (message.memory().kind_case()) {
    case v1::MemoryHandle::kPosixSharedMemory:
      arena.memory = PosixSharedMemory{message.memory().posix_shared_memory().name()};
      break;
    case v1::MemoryHandle::kCudaIpc: {
      const auto& ipc = message.memory().cuda_ipc();
      arena.memory = CudaIpcMemory{ipc.handle(), ipc.device_uuid(), ipc.exporter_pid()};
      break;
    }
    case v1::MemoryHandle::KIND_NOT_SET:
      break;
  }
  arena.offset = message.memory().offset();
  arena.size = message.memory().size();
  arena.generation = message.generation();
  if (message.timeline_memory().has_posix_shared_memory()) {
    arena.timeline_page = PosixSharedMemory{message.timeline_memory().posix_shared_memory().name()};
  }
  return arena;
}

absl::StatusOr<TensorInfo> ToTensor(const v1::TensorDescription& message) {
  TensorInfo tensor;
  tensor.id = message.id();
  tensor.name = message.name();
  tensor.per_group = message.per_group();
  tensor.shape = message.shape();
  tensor.max_elements = message.max_elements();
  if (message.rank() < 1 || message.rank() > 2) {
    return Bad(absl::StrCat("tensors.rank of ", tensor.name),
               absl::StrCat("must be 1 or 2 (got ", message.rank(), ")"));
  }
  tensor.rank = static_cast<int>(message.rank());
  switch (message.dtype()) {
    case v1::DTYPE_INT32:
      tensor.dtype = plan::DType::kInt32;
      break;
    case v1::DTYPE_UINT8:
      tensor.dtype = plan::DType::kUInt8;
      break;
    default:
      return Bad(absl::StrCat("tensors.dtype of ", tensor.name),
                 absl::StrCat("must be INT32 or UINT8 (got ", static_cast<int>(message.dtype()),
                              "); is the server newer than this client?"));
  }
  return tensor;
}

absl::Status CheckTensors(const std::vector<TensorInfo>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name.empty()) return Bad("tensors.name", "must not be empty");
    for (size_t j = 0; j < i; ++j) {
      if (tensors[i].id == tensors[j].id || tensors[i].name == tensors[j].name) {
        return Bad("tensors", absl::StrCat(tensors[j].name, " and ", tensors[i].name,
                                           " share a name or an id"));
      }
    }
  }
  return absl::OkStatus();
}

// Whether `count` values of 8 bytes, `stride` apart, lie behind the header and within the arena.
bool ValuesFit(uint64_t offset, uint64_t stride, uint64_t count, uint64_t arena_bytes) {
  if (offset % 8 != 0 || stride % 8 != 0 || stride < 8) return false;
  if (offset < sizeof(plan::ArenaHeader) || offset > arena_bytes) return false;
  const uint64_t room = arena_bytes - offset;
  return room >= 8 && (count - 1) <= (room - 8) / stride;
}

absl::Status CheckPlaces(const SessionInfo& session) {
  if (session.arenas.empty()) return Bad("arenas", "must have at least one entry");
  if (session.num_slots < 1 || session.num_slots > plan::kMaxSlots) {
    return Bad("config.num_slots",
               absl::StrCat("must be in 1..", plan::kMaxSlots, " (got ", session.num_slots, ")"));
  }
  for (const ArenaInfo& arena : session.arenas) {
    if (arena.size != session.arena_bytes) {
      return Bad("arenas.memory.size", absl::StrCat("must equal arena_bytes, ", session.arena_bytes,
                                                    " (got ", arena.size, ")"));
    }
  }
  const auto slots = static_cast<uint64_t>(session.num_slots);
  const TimelineInfo& timeline = session.timeline;
  for (const auto& [name, offset] : {std::pair("ready_offset", timeline.ready_offset),
                                     std::pair("consumed_offset", timeline.consumed_offset),
                                     std::pair("promised_offset", timeline.promised_offset)}) {
    if (!ValuesFit(offset, timeline.stride, slots, session.arena_bytes)) {
      return Bad(absl::StrCat("timeline.", name),
                 absl::StrCat(slots, " values from ", offset, " with stride ", timeline.stride,
                              " must be aligned to 8 and lie behind the header within ",
                              session.arena_bytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ServerInfo Describe(const v1::GetServerInfoResponse& message) {
  ServerInfo info;
  info.version = message.version();
  info.boot_id = message.boot_id();
  for (const v1::Device& device : message.devices()) info.devices.push_back(ToDevice(device));
  info.capabilities = {message.capabilities().plan_stream(), message.capabilities().watch_plans(),
                       message.capabilities().cuda(), message.capabilities().timeline_waits()};
  const auto& limits = message.limits();
  info.limits = {.max_sessions = limits.max_sessions(),
                 .max_message_bytes = limits.max_message_bytes(),
                 .max_groups = limits.max_groups(),
                 .max_slots = limits.max_slots(),
                 .max_plans_in_flight = limits.max_plans_in_flight(),
                 .max_streams = limits.max_streams(),
                 .max_followers = limits.max_followers(),
                 .max_num_seqs = limits.max_num_seqs(),
                 .max_num_batched_tokens = limits.max_num_batched_tokens(),
                 .max_session_bytes = limits.max_session_bytes(),
                 .max_device_bytes = limits.max_device_bytes()};
  info.num_sessions = message.num_sessions();
  info.uptime = std::chrono::milliseconds(message.uptime_ms());
  info.host_page_probe = message.host_page_probe();
  info.poll = message.poll();
  info.lease = std::chrono::milliseconds(message.lease_ms());
  info.grace = std::chrono::milliseconds(message.grace_ms());
  info.num_leases_lapsed = message.num_leases_lapsed();
  return info;
}

absl::StatusOr<SessionSummary> Describe(const v1::SessionSummary& message) {
  SessionSummary summary;
  auto config = wire::FromProto(message.config());
  if (!config.ok()) return Bad("config", std::string(config.status().message()));
  summary.number = message.number();
  summary.name = message.name();
  summary.config = *std::move(config);
  summary.num_slots = wire::NumSlots(message.config());
  summary.devices = {message.devices().begin(), message.devices().end()};
  summary.arena_bytes = message.arena_bytes();
  summary.num_plans = message.num_plans();
  summary.num_refused = message.num_refused();
  summary.age = std::chrono::milliseconds(message.age_ms());
  summary.idle = std::chrono::milliseconds(message.idle_ms());
  summary.num_attached = message.num_attached();
  summary.lease_left = std::chrono::milliseconds(message.lease_left_ms());
  return summary;
}

absl::StatusOr<SessionInfo> Describe(const v1::SessionDescription& message) {
  SessionInfo session;
  if (message.session_id().empty()) return Bad("session_id", "must not be empty");
  session.session_id = message.session_id();
  session.boot_id = message.boot_id();
  auto config = wire::FromProto(message.config());
  if (!config.ok()) return Bad("config", std::string(config.status().message()));
  session.config = *std::move(config);
  session.num_slots = wire::NumSlots(message.config());
  session.capture_limit = message.capture_limit();
  if (message.num_groups() != session.config.groups.size()) {
    return Bad("num_groups",
               absl::StrCat("must equal the configuration's ", session.config.groups.size(),
                            " (got ", message.num_groups(), ")"));
  }
  for (const v1::Arena& arena : message.arenas()) session.arenas.push_back(ToArena(arena));
  for (const v1::TensorDescription& tensor : message.tensors()) {
    GDNPLAN_ASSIGN_OR_RETURN(TensorInfo info, ToTensor(tensor));
    session.tensors.push_back(std::move(info));
  }
  session.timeline = {message.timeline().ready_offset(), message.timeline().consumed_offset(),
                      message.timeline().promised_offset(), message.timeline().stride()};
  session.arena_bytes = message.arena_bytes();
  session.lease = std::chrono::milliseconds(message.lease_ms());
  GDNPLAN_RETURN_IF_ERROR(CheckTensors(session.tensors));
  GDNPLAN_RETURN_IF_ERROR(CheckPlaces(session));
  return session;
}

}  // namespace gdnplan::client
