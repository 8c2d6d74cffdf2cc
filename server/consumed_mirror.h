// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How the CPU learns `consumed` where it is in device memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/cuda/stream.h"
#include "gdnplan/plan/arena.h"

namespace gdnplan::server {

// The values of an arena's slots as they were fetched last. A fetch is a transfer on a stream that
// never waits for anybody. Not thread safe; the device writes what is read here.
class ConsumedMirror {
 public:
  // `arena`: device memory of the current device, of this layout. It must outlive all fetches.
  static absl::StatusOr<ConsumedMirror> Create(const plan::ArenaLayout& layout,
                                               const std::byte* arena);

  // What the slot's `consumed` has reached at least.
  uint64_t value(int32_t slot) const { return Word(1 + 2 * static_cast<size_t>(slot)); }

  // Enqueues a fetch, unless one is under way. The device must be current.
  absl::Status Fetch(cuda::StreamView stream);
  bool fetching() const { return Word(0) != num_fetches_; }

 private:
  ConsumedMirror(const plan::ArenaLayout& layout, const std::byte* arena, cuda::PinnedMemory words)
      : consumed_(arena + layout.consumed_offset(0)),
        num_slots_(static_cast<size_t>(layout.num_slots)),
        words_(std::move(words)) {}
  uint64_t Word(size_t index) const {
    return reinterpret_cast<const std::atomic<uint64_t>*>(words_.data())[index].load(
        std::memory_order_acquire);
  }

  const std::byte* consumed_;
  size_t num_slots_;
  // The number of fetches that ended; then `consumed` of each slot, each followed by what the
  // transfer takes along.
  cuda::PinnedMemory words_;
  uint64_t num_fetches_ = 0;
};

}  // namespace gdnplan::server
