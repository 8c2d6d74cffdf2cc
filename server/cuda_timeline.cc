// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/cuda_timeline.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <new>

#include "gdnplan/cuda/status.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {

absl::StatusOr<CudaTimeline> CudaTimeline::CreateInArena(const plan::ArenaLayout& layout,
                                                         std::byte* arena) {
  CudaTimeline timeline(layout, arena);
  GDNPLAN_ASSIGN_OR_RETURN(timeline.mirror_, ConsumedMirror::Create(layout, arena));
  return timeline;
}

absl::StatusOr<CudaTimeline> CudaTimeline::CreatePage(const plan::ArenaLayout& layout,
                                                      const plan::ArenaHeader& header,
                                                      std::string name) {
  // The arena's first pages: its header and the same offsets.
  const auto bytes = static_cast<size_t>(layout.slots_offset);
  GDNPLAN_ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Create(std::move(name), bytes));
  auto page = std::make_unique<Page>(std::move(memory));
  std::byte* data = page->memory.data();
  std::memcpy(data, &header, sizeof(header));
  for (int32_t slot = 0; slot < layout.num_slots; ++slot) {
    new (data + layout.ready_offset(slot))
        plan::SlotTimeline{.ready = 0, .consumed = 0, .promised = 0};
  }
  GDNPLAN_CUDA_RETURN_IF_ERROR(
      cudaHostRegister(data, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped));
  page->registered = true;
  void* device = nullptr;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, data, 0));
  CudaTimeline timeline(layout, static_cast<std::byte*>(device));
  timeline.page_ = std::move(page);
  return timeline;
}

CudaTimeline::Page::~Page() {
  if (registered) cuda::LogIfError(cudaHostUnregister(memory.data()), "cudaHostUnregister");
}

plan::SlotTimeline& CudaTimeline::Values(int32_t slot) const {
  return *reinterpret_cast<plan::SlotTimeline*>(page_->memory.data() + layout_.ready_offset(slot));
}

uint64_t CudaTimeline::PromisedConsumed(int32_t slot) const {
  const uint64_t known = std::max(promised_, Consumed(slot));
  return on_page() ? std::max(known, Values(slot).promised.load(std::memory_order_acquire)) : known;
}

uint64_t CudaTimeline::Consumed(int32_t slot) const {
  return on_page() ? Values(slot).consumed.load(std::memory_order_acquire)
                   : std::max(released_, mirror_->value(slot));
}

absl::Status CudaTimeline::Fetch(cuda::StreamView stream) {
  return on_page() ? absl::OkStatus() : mirror_->Fetch(stream);
}

void CudaTimeline::Release(int32_t slot, uint64_t value) {
  promised_ = std::max(promised_, value);
  if (!on_page()) {
    // Values rise over all slots: what was released of one was made before any later plan.
    released_ = std::max(released_, value);
    return;
  }
  std::atomic<uint64_t>& consumed = Values(slot).consumed;
  uint64_t current = consumed.load(std::memory_order_relaxed);
  while (current < value && !consumed.compare_exchange_weak(current, value)) {
  }
}

}  // namespace gdnplan::server
