// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Blocks of pinned memory that transfers and kernels read, taken in turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_input.h"
#include "server/staged_write.h"

namespace gdnplan::server {

// A block's bytes: a slot's image for the copy fill, and room for a packed step for the kernel
// fill. Built once for a write, whatever number of devices reads them.
struct StagedBytes {
  std::byte* image = nullptr;  // SlotLayout::slot_bytes, initialised
  std::byte* step = nullptr;   // plan::PackedStepBytes
  plan::ConvReach reach;       // of the image
  plan::StepInput packed;      // what `step` holds
  uint64_t image_value = 0;    // timeline value of the write that the image was built for last
  uint64_t step_value = 0;     // and the step
};

struct StagingBlock {
  StagedBytes* bytes = nullptr;
  uint64_t last_value = 0;  // of the write that read it last
  StagedWrite write;        // that write
};

// One device's use of the blocks. Not thread safe; `progress` is written by the device. Allocates
// when made and never after.
class StagingRing {
 public:
  static absl::StatusOr<StagingRing> Create(const plan::PlanConfig& config,
                                            const plan::SlotLayout& layout, int32_t num_blocks);
  // For another device of the same session: the same bytes. Both rings are taken from for the same
  // writes, and for the next one only once both have a free block.
  static absl::StatusOr<StagingRing> Share(const StagingRing& first);

  // The timeline value up to which the device is done with the blocks. The device's last act of a
  // write is to set it. As host and device address it.
  uint64_t progress() const { return Progress().load(std::memory_order_acquire); }
  void* progress_address() const { return progress_.data(); }

  bool has_free_block() const { return blocks_[next_].last_value <= progress(); }
  // The next block, which must be free. `value`: of the write that is about to read it. The block
  // is pending until popped.
  StagingBlock& Take(uint64_t value);
  bool has_pending() const { return num_pending_ > 0; }
  // The block that was taken first of those pending.
  StagingBlock& first_pending() {
    return blocks_[(next_ + blocks_.size() - num_pending_) % blocks_.size()];
  }
  void PopPending() { --num_pending_; }

 private:
  struct Shared {
    explicit Shared(cuda::PinnedMemory pinned) : memory(std::move(pinned)) {}
    cuda::PinnedMemory memory;
    std::vector<StagedBytes> bytes;
  };
  static absl::StatusOr<StagingRing> Create(std::shared_ptr<Shared> shared);

  StagingRing(std::shared_ptr<Shared> shared, cuda::PinnedMemory progress);
  std::atomic<uint64_t>& Progress() const {
    return *reinterpret_cast<std::atomic<uint64_t>*>(progress_.data());
  }

  std::shared_ptr<Shared> shared_;
  cuda::PinnedMemory progress_;
  std::vector<StagingBlock> blocks_;
  size_t next_ = 0;
  size_t num_pending_ = 0;
};

}  // namespace gdnplan::server
