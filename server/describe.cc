// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/describe.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "wire/convert.h"

namespace gdnplan::server {
namespace {

v1::DeviceKind ToProto(DeviceKind kind) {
  return kind == DeviceKind::kHost ? v1::DEVICE_KIND_HOST : v1::DEVICE_KIND_CUDA;
}

v1::FillKind ToProto(FillKind kind) {
  switch (kind) {
    case FillKind::kHost:
      return v1::FILL_KIND_HOST;
    case FillKind::kCopy:
      return v1::FILL_KIND_COPY;
    case FillKind::kKernel:
      return v1::FILL_KIND_KERNEL;
  }
  return v1::FILL_KIND_UNSPECIFIED;
}

v1::FillMode ToProto(FillMode mode) {
  switch (mode) {
    case FillMode::kAuto:
      return v1::FILL_MODE_AUTO;
    case FillMode::kCopy:
      return v1::FILL_MODE_COPY;
    case FillMode::kKernel:
      return v1::FILL_MODE_KERNEL;
  }
  return v1::FILL_MODE_UNSPECIFIED;
}

void Describe(const MemoryHandle& handle, v1::MemoryHandle& message) {
  if (const auto* posix = std::get_if<PosixSharedMemoryHandle>(&handle)) {
    message.mutable_posix_shared_memory()->set_name(posix->name);
  } else if (const auto* ipc = std::get_if<CudaIpcHandle>(&handle)) {
    message.mutable_cuda_ipc()->set_handle(ipc->handle);
    message.mutable_cuda_ipc()->set_device_uuid(ipc->device_uuid);
    message.mutable_cuda_ipc()->set_exporter_pid(ipc->exporter_pid);
  }
}

uint64_t Milliseconds(std::chrono::nanoseconds duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

uint64_t LeftMilliseconds(Session::Clock::duration left) {
  // A lease that is about to lapse is none that does not.
  return left == Session::Clock::duration::max() ? 0 : std::max<uint64_t>(Milliseconds(left), 1);
}

void Describe(const DeviceInfo& info, v1::Device& message) {
  message.set_kind(ToProto(info.kind));
  message.set_id(info.id);
  message.set_name(info.name);
  message.set_memory_bytes(info.memory_bytes);
  message.set_available_bytes(info.available_bytes);
  if (info.fill_mode.has_value()) message.set_fill_mode(ToProto(*info.fill_mode));
  message.set_mps(info.mps);
  message.mutable_fills()->set_host(info.fills.host);
  message.mutable_fills()->set_copy(info.fills.copy);
  message.mutable_fills()->set_kernel(info.fills.kernel);
}

void Describe(const PlanResult& result, v1::Plan& message) {
  message.set_plan_id(result.plan_id);
  message.set_slot(static_cast<uint32_t>(result.slot));
  message.set_staging(wire::ToProto(result.counts.staging));
  wire::ToProto(result.counts, *message.mutable_counts());
  wire::ToProto(result.layout, result.slot_offset, *message.mutable_tensors());
  message.set_fill(ToProto(result.fill));
  message.set_complete(result.complete);
  message.set_server_time_ns(result.server_time_ns);
  message.set_timeline_value(result.timeline_value);
}

void Describe(const Session& session, const Boot& boot, v1::SessionDescription& message) {
  const SessionOptions& options = session.options();
  message.set_session_id(session.id());
  message.set_boot_id(boot.hex());
  *message.mutable_config() = wire::ToProto(options.config, options.num_slots);
  message.set_capture_limit(options.config.capture_limit());
  const auto arena_bytes = static_cast<uint64_t>(session.layout().arena_bytes);
  for (const ArenaDescription& arena : session.arenas()) {
    v1::Arena& out = *message.add_arenas();
    Describe(arena.device, *out.mutable_device());
    Describe(arena.handle, *out.mutable_memory());
    out.mutable_memory()->set_size(arena_bytes);
    if (arena.timeline_handle.has_value()) {
      Describe(*arena.timeline_handle, *out.mutable_timeline_memory());
    }
    out.set_generation(arena.generation);
  }
  wire::DescribeTensors(options.config, *message.mutable_tensors());
  wire::DescribeTimeline(session.layout(), *message.mutable_timeline());
  message.set_arena_bytes(arena_bytes);
  message.set_num_groups(static_cast<uint32_t>(options.config.num_groups()));
  message.set_lease_ms(Milliseconds(options.lease.length));
}

void Summarize(Session& session, v1::SessionSummary& message) {
  const SessionOptions& options = session.options();
  const SessionStatistics statistics = session.statistics();
  message.set_number(session.number());
  message.set_name(options.name);
  *message.mutable_config() = wire::ToProto(options.config, options.num_slots);
  for (const ArenaDescription& arena : session.arenas()) message.add_devices(arena.device.id);
  message.set_arena_bytes(static_cast<uint64_t>(session.layout().arena_bytes));
  message.set_num_plans(statistics.num_plans);
  message.set_num_refused(statistics.num_refused);
  message.set_age_ms(Milliseconds(statistics.age));
  message.set_idle_ms(Milliseconds(statistics.idle));
  const auto now = Session::Clock::now();
  message.set_num_attached(static_cast<uint32_t>(session.leases().CountAttached(now)));
  message.set_lease_left_ms(LeftMilliseconds(session.leases().Left(now)));
}

}  // namespace gdnplan::server
