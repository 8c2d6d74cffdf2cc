// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where a CUDA session's timeline values are, and the ways to reach them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "server/shared_memory.h"

namespace gdnplan::server {

// Values in the arena (device memory, which the CPU does not see), or in a page of shared host
// memory that the GPU sees too. One at a time; `Promise` and `promised` are as of one thread.
class CudaTimeline {
 public:
  // In the arena at `arena`, device memory.
  CudaTimeline(const plan::ArenaLayout& layout, std::byte* arena)
      : layout_(layout), device_(arena) {}
  // In a page of its own, with a copy of the arena's header.
  static absl::StatusOr<CudaTimeline> CreatePage(const plan::ArenaLayout& layout,
                                                 const plan::ArenaHeader& header, std::string name);

  // As the device addresses them.
  void* ready(int32_t slot) const { return device_ + layout_.ready_offset(slot); }
  void* consumed(int32_t slot) const { return device_ + layout_.consumed_offset(slot); }

  // What the CPU knows that `consumed` has reached or will.
  uint64_t PromisedConsumed(int32_t slot) const;
  void Promise(uint64_t value) { promised_ = std::max(promised_, value); }

  bool on_page() const { return page_ != nullptr; }
  const std::string& page_name() const { return page_->memory.name(); }
  // Only on a page, which the CPU sees.
  uint64_t ReadConsumed(int32_t slot) const {
    return Values(slot).consumed.load(std::memory_order_acquire);
  }
  void RaiseConsumed(int32_t slot, uint64_t value);

 private:
  // Registered with CUDA as long as it lives.
  struct Page {
    explicit Page(SharedMemory shared) : memory(std::move(shared)) {}
    ~Page();
    SharedMemory memory;
    bool registered = false;
  };
  plan::SlotTimeline& Values(int32_t slot) const;

  plan::ArenaLayout layout_;
  std::byte* device_;
  std::unique_ptr<Page> page_;
  uint64_t promised_ = 0;
};

}  // namespace gdnplan::server
