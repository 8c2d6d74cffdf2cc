// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's memory on one GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/cuda/gpu_info.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/cuda/stream.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/config.h"
#include "server/boot.h"
#include "server/cuda_timeline.h"
#include "server/device.h"
#include "server/fill_mode.h"
#include "server/staged_write.h"
#include "server/staging_ring.h"

namespace gdnplan::server {

// Everything is enqueued on the arena's own stream: fill, write `ready`. Nothing allocates or
// synchronises between Create and the destructor.
//
// No stream of the service ever waits for a consumer. A wait that is not met would block whoever
// frees memory meanwhile, with the driver's lock held, so every other call of the process, and
// those streams that share its hardware queue. So a write is enqueued only once the CPU has seen
// that its slot is consumed (Advance does it then): on a page at once, in the arena by fetching the
// value. Whatever becomes of a consumer, no other session notices.
class CudaArena final : public DeviceArena {
 public:
  static absl::StatusOr<std::unique_ptr<CudaArena>> Create(const cuda::GpuInfo& gpu,
                                                           const ArenaRequest& request,
                                                           FillMode mode, Boot& boot);
  ~CudaArena() override;

  MemoryHandle handle() const override;
  std::optional<MemoryHandle> timeline_handle() const override;
  uint64_t generation() const override { return generation_; }

  absl::StatusOr<WriteResult> Write(const SlotWrite& write) override;
  uint64_t Consumed(int32_t slot) const override { return timeline_.PromisedConsumed(slot); }
  bool CanWrite() const override { return staging_.has_free_block(); }
  void Promise(uint64_t timeline_value) override { timeline_.Promise(timeline_value); }
  void ReleaseConsumer() override;
  bool HasDeferred() const override { return staging_.has_pending(); }
  bool IsLooking() const override { return staging_.has_pending() && timeline_.fetching(); }
  absl::StatusOr<bool> Advance() override;
  absl::StatusOr<bool> IsReady(int32_t slot, uint64_t timeline_value) override;
  // The timeline value of the last write that is done.
  uint64_t progress() const { return staging_.progress(); }

 private:
  // What the CPU knows of a slot on the device.
  struct SlotState {
    int32_t conv_reach = 0;   // of the bytes there, once all writes are done
    uint64_t last_value = 0;  // of the last write
  };
  struct Parts {
    cuda::DeviceMemory memory;
    CudaTimeline timeline;
    cuda::Stream stream;
    StagingRing staging;
  };

  CudaArena(const cuda::GpuInfo& gpu, const ArenaRequest& request, FillMode mode, Parts parts);
  absl::Status Initialize(const plan::ArenaHeader& header);
  std::byte* Slot(int32_t slot) const { return memory_.data() + layout_.slot_offset(slot); }

  // Stages a write: its bytes in the block's image, or its packed input, and what to enqueue.
  void StagePlan(const SlotWrite& write, StagingBlock& block);
  void StageGroup(const SlotWrite& write, StagingBlock& block);
  void StageKernel(const SlotWrite& write, StagingBlock& block);
  bool CanEnqueue(const StagedWrite& write) const;
  absl::Status Enqueue(const StagingBlock& block);

  const cuda::GpuInfo gpu_;
  const plan::ArenaLayout layout_;
  const FillMode mode_;
  cuda::DeviceMemory memory_;
  CudaTimeline timeline_;
  cuda::Stream stream_;
  StagingRing staging_;
  std::vector<SlotState> slots_;
  std::string ipc_handle_;
  uint64_t generation_ = 0;
};

}  // namespace gdnplan::server
