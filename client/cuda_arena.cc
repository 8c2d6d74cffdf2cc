// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/cuda_arena.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/posix_arena.h"
#include "gdnplan/cuda/device_guard.h"
#include "gdnplan/cuda/gpu_info.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/cuda/stream.h"
#include "gdnplan/cuda/timeline.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace {

// Opening is slow and a handle opened twice is one mapping anyway.
absl::StatusOr<std::shared_ptr<cuda::ImportedMemory>> OpenOnce(const std::string& handle) {
  static std::mutex mutex;
  static auto* const open = new std::map<std::string, std::weak_ptr<cuda::ImportedMemory>>();
  const std::lock_guard lock(mutex);
  std::erase_if(*open, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<cuda::ImportedMemory>& known = (*open)[handle];
  if (auto memory = known.lock(); memory != nullptr) return memory;
  GDNPLAN_ASSIGN_OR_RETURN(cuda::ImportedMemory memory, cuda::ImportedMemory::Open(handle));
  auto shared = std::make_shared<cuda::ImportedMemory>(std::move(memory));
  known = shared;
  return shared;
}

// From the current GPU.
absl::Status Download(const std::byte* from, std::span<std::byte> bytes) {
  // A stream of its own: the default one may be busy with the engine's work.
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::Stream stream, cuda::Stream::Create());
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(bytes.data(), from, bytes.size(),
                                               cudaMemcpyDeviceToHost, stream.view().get()));
  return stream.view().Synchronize();
}

// A page of host memory, registered so that streams can wait for its values.
class TimelinePage {
 public:
  static absl::StatusOr<std::shared_ptr<TimelinePage>> Map(const std::string& name,
                                                           uint64_t bytes) {
    GDNPLAN_ASSIGN_OR_RETURN(std::shared_ptr<MappedArena> memory, MapPosixArena(name, 0, bytes));
    auto page = std::make_shared<TimelinePage>(std::move(memory));
    // CUDA takes whole mappings to write to; the values in this one are.
    void* host = const_cast<std::byte*>(page->memory_->data());
    GDNPLAN_CUDA_RETURN_IF_ERROR(
        cudaHostRegister(host, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped));
    page->registered_ = true;
    void* device = nullptr;
    GDNPLAN_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, host, 0));
    page->device_ = static_cast<std::byte*>(device);
    return page;
  }
  explicit TimelinePage(std::shared_ptr<MappedArena> memory) : memory_(std::move(memory)) {}
  TimelinePage(const TimelinePage&) = delete;
  TimelinePage& operator=(const TimelinePage&) = delete;
  ~TimelinePage() {
    if (registered_) {
      cuda::LogIfError(cudaHostUnregister(const_cast<std::byte*>(memory_->data())),
                       "cudaHostUnregister");
    }
  }

  const MappedArena& memory() const { return *memory_; }
  std::byte* device() const { return device_; }

 private:
  std::shared_ptr<MappedArena> memory_;
  bool registered_ = false;
  std::byte* device_ = nullptr;
};

class CudaArena final : public MappedArena {
 public:
  struct Parts {
    std::shared_ptr<cuda::ImportedMemory> memory;
    std::shared_ptr<TimelinePage> page;  // null: the values are in the arena
    int ordinal = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  explicit CudaArena(Parts parts) : parts_(std::move(parts)) {}
  ~CudaArena() override {
    // Closing happens on the memory's GPU.
    const absl::StatusOr<cuda::DeviceGuard> guard = cuda::DeviceGuard::Create(parts_.ordinal);
    parts_.page.reset();
    parts_.memory.reset();
  }

  DeviceKind device() const override { return DeviceKind::kCuda; }
  int ordinal() const override { return parts_.ordinal; }
  const std::byte* data() const override { return base(); }
  uint64_t size() const override { return parts_.size; }

  absl::StatusOr<uint64_t> LoadValue(uint64_t offset) const override {
    if (parts_.page == nullptr) return Unseen();
    return parts_.page->memory().LoadValue(offset);
  }
  absl::Status RaiseValue(uint64_t offset, uint64_t value) const override {
    if (parts_.page == nullptr) return Unseen();
    return parts_.page->memory().RaiseValue(offset, value);
  }
  absl::Status CopyToHost(uint64_t offset, std::span<std::byte> bytes) const override {
    if (bytes.empty()) return absl::OkStatus();
    GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard,
                             cuda::DeviceGuard::Create(parts_.ordinal));
    return Download(base() + offset, bytes);
  }
  absl::Status WaitOnStream(CUstream_st* stream, uint64_t offset, uint64_t value) const override {
    return cuda::WaitValue(stream, values() + offset, value);
  }
  absl::Status WriteOnStream(CUstream_st* stream, uint64_t offset, uint64_t value) const override {
    return cuda::WriteValue(stream, values() + offset, value);
  }

 private:
  static absl::Status Unseen() {
    return absl::UnimplementedError(
        "the session's timeline is in GPU memory, which the CPU cannot see: use WaitReadyOn and "
        "MarkConsumedOn, or PlanOptions::wait_complete");
  }
  std::byte* base() const { return parts_.memory->data() + parts_.offset; }
  std::byte* values() const { return parts_.page == nullptr ? base() : parts_.page->device(); }

  Parts parts_;
};

absl::Status CheckPid(const CudaIpcMemory& ipc) {
  if (ipc.exporter_pid != static_cast<uint32_t>(getpid())) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "this process and the server are both PID ", ipc.exporter_pid,
      ": either this is the server's own process, or the two are in different PID namespaces, and "
      "CUDA cannot tell them apart; start one of them with another PID (gdnplan-server does with "
      "--min-pid, which is on by default)"));
}

absl::StatusOr<plan::ArenaHeader> ReadHeader(const std::byte* arena) {
  plan::ArenaHeader header;
  GDNPLAN_RETURN_IF_ERROR(Download(arena, std::as_writable_bytes(std::span(&header, 1))));
  return header;
}

// The description's offsets were checked against the arena; a page is smaller.
absl::Status CheckValuesFit(const SessionInfo& session, uint64_t page_bytes) {
  const TimelineInfo& timeline = session.timeline;
  const uint64_t last = static_cast<uint64_t>(session.num_slots - 1) * timeline.stride + 8;
  const uint64_t first =
      std::max({timeline.ready_offset, timeline.consumed_offset, timeline.promised_offset});
  if (first + last <= page_bytes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the server's timeline ends at byte ", first + last,
                                          " of a page of ", page_bytes));
}

}  // namespace

absl::StatusOr<std::shared_ptr<MappedArena>> MapCudaArena(const SessionInfo& session,
                                                          const ArenaInfo& arena) {
  const auto& ipc = std::get<CudaIpcMemory>(arena.memory);
  GDNPLAN_RETURN_IF_ERROR(CheckPid(ipc));
  CudaArena::Parts parts;
  parts.offset = arena.offset;
  parts.size = arena.size;
  GDNPLAN_ASSIGN_OR_RETURN(parts.ordinal, cuda::FindGpu(ipc.device_uuid));
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(parts.ordinal));
  GDNPLAN_ASSIGN_OR_RETURN(parts.memory, OpenOnce(ipc.handle));
  GDNPLAN_ASSIGN_OR_RETURN(const plan::ArenaHeader header,
                           ReadHeader(parts.memory->data() + arena.offset));
  GDNPLAN_RETURN_IF_ERROR(CheckHeader(header, session, arena));
  if (arena.timeline_page.has_value()) {
    GDNPLAN_RETURN_IF_ERROR(CheckValuesFit(session, header.slots_offset));
    GDNPLAN_ASSIGN_OR_RETURN(parts.page,
                             TimelinePage::Map(arena.timeline_page->name, header.slots_offset));
    GDNPLAN_RETURN_IF_ERROR(CheckHeader(HeaderOf(parts.page->memory()), session, arena));
  }
  return std::make_shared<CudaArena>(std::move(parts));
}

}  // namespace gdnplan::client
