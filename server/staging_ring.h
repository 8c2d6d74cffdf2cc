// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Blocks of pinned memory that transfers and kernels read, taken in turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/layout.h"

namespace gdnplan::server {

// One block: a slot's image for the copy fill, and room for a packed step for the kernel fill.
struct StagingBlock {
  std::byte* image = nullptr;  // SlotLayout::slot_bytes, initialised
  std::byte* step = nullptr;   // plan::PackedStepBytes
  plan::ConvReach reach;       // of the image
  uint64_t last_value = 0;     // of the write that read it last
};

// Not thread safe; `progress` is written by the device. Allocates when made and never after.
class StagingRing {
 public:
  static absl::StatusOr<StagingRing> Create(const plan::PlanConfig& config,
                                            const plan::SlotLayout& layout, int32_t num_blocks);

  // The timeline value up to which the device is done with the blocks. The device's last act of a
  // write is to set it. As host and device address it.
  uint64_t progress() const { return Progress().load(std::memory_order_acquire); }
  void* progress_address() const { return memory_.data(); }

  bool has_free_block() const { return blocks_[next_].last_value <= progress(); }
  // The next block, which must be free. `value`: of the write that is about to read it.
  StagingBlock& Take(uint64_t value);

 private:
  explicit StagingRing(cuda::PinnedMemory memory) : memory_(std::move(memory)) {}
  std::atomic<uint64_t>& Progress() const {
    return *reinterpret_cast<std::atomic<uint64_t>*>(memory_.data());
  }

  cuda::PinnedMemory memory_;
  std::vector<StagingBlock> blocks_;
  size_t next_ = 0;
};

}  // namespace gdnplan::server
