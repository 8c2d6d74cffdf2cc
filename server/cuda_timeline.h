// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where a CUDA session's timeline values are, and the ways to reach them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "server/consumed_mirror.h"
#include "server/shared_memory.h"

namespace gdnplan::server {

// Values in the arena (device memory, which the CPU fetches), or in a page of shared host memory
// that the GPU sees too. Not thread safe.
class CudaTimeline {
 public:
  // In the arena at `arena`, device memory of the current device.
  static absl::StatusOr<CudaTimeline> CreateInArena(const plan::ArenaLayout& layout,
                                                    std::byte* arena);
  // In a page of its own, with a copy of the arena's header.
  static absl::StatusOr<CudaTimeline> CreatePage(const plan::ArenaLayout& layout,
                                                 const plan::ArenaHeader& header, std::string name);

  // As the device addresses it.
  void* ready(int32_t slot) const { return device_ + layout_.ready_offset(slot); }

  // What the CPU knows that `consumed` has reached or will.
  uint64_t PromisedConsumed(int32_t slot) const;
  void Promise(uint64_t value) { promised_ = std::max(promised_, value); }

  // What the CPU knows that `consumed` has reached.
  uint64_t Consumed(int32_t slot) const;
  // Makes Consumed newer in a moment, where it is not at once. The device must be current.
  absl::Status Fetch(cuda::StreamView stream);
  bool fetching() const { return mirror_.has_value() && mirror_->fetching(); }
  // All up to `value`, the slot's last one, counts as consumed, whatever its consumer writes.
  void Release(int32_t slot, uint64_t value);

  bool on_page() const { return page_ != nullptr; }
  const std::string& page_name() const { return page_->memory.name(); }

 private:
  // Registered with CUDA as long as it lives.
  struct Page {
    explicit Page(SharedMemory shared) : memory(std::move(shared)) {}
    ~Page();
    SharedMemory memory;
    bool registered = false;
  };
  CudaTimeline(const plan::ArenaLayout& layout, std::byte* device)
      : layout_(layout), device_(device) {}
  plan::SlotTimeline& Values(int32_t slot) const;

  plan::ArenaLayout layout_;
  std::byte* device_;
  // One of the two.
  std::unique_ptr<Page> page_;
  std::optional<ConsumedMirror> mirror_;
  uint64_t promised_ = 0;
  uint64_t released_ = 0;
};

}  // namespace gdnplan::server
