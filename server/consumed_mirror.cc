// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/consumed_mirror.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

#include "gdnplan/cuda/status.h"
#include "gdnplan/cuda/timeline.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

// From one slot's `consumed` to the next one's, in two steps, so that there are two rows for one
// slot too: transfers of one row this short do not use a copy engine, and wait for their turn where
// other processes keep the GPU busy.
constexpr size_t kRowsPerSlot = 2;
constexpr size_t kPitch = sizeof(plan::SlotTimeline) / kRowsPerSlot;
static_assert(kPitch % sizeof(uint64_t) == 0 && kPitch > 64 && kPitch <= 128,
              "the second row must stay within the slot's values");

}  // namespace

absl::StatusOr<ConsumedMirror> ConsumedMirror::Create(const plan::ArenaLayout& layout,
                                                      const std::byte* arena) {
  const size_t words = 1 + kRowsPerSlot * static_cast<size_t>(layout.num_slots);
  GDNPLAN_ASSIGN_OR_RETURN(cuda::PinnedMemory memory,
                           cuda::PinnedMemory::Create(words * sizeof(uint64_t)));
  std::memset(memory.data(), 0, memory.size());
  return ConsumedMirror(layout, arena, std::move(memory));
}

absl::Status ConsumedMirror::Fetch(cuda::StreamView stream) {
  if (fetching()) return absl::OkStatus();
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemcpy2DAsync(
      words_.data() + sizeof(uint64_t), sizeof(uint64_t), consumed_, kPitch, sizeof(uint64_t),
      kRowsPerSlot * num_slots_, cudaMemcpyDeviceToHost, stream.get()));
  GDNPLAN_RETURN_IF_ERROR(cuda::WriteValue(stream, words_.data(), num_fetches_ + 1));
  ++num_fetches_;
  return absl::OkStatus();
}

}  // namespace gdnplan::server
