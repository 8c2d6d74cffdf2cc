// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/staging_ring.h"

#include <cstring>
#include <new>
#include <utility>

#include "gdnplan/plan/pack_step.h"
#include "gdnplan/plan/plan_math.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

// Transfers from page-aligned images are the fastest; the progress word has a page of its own.
constexpr int64_t kPage = 4096;

}  // namespace

absl::StatusOr<StagingRing> StagingRing::Create(const plan::PlanConfig& config,
                                                const plan::SlotLayout& layout,
                                                int32_t num_blocks) {
  const int64_t image_bytes = plan::AlignUp(layout.slot_bytes, kPage);
  const int64_t step_bytes =
      plan::AlignUp(static_cast<int64_t>(plan::PackedStepBytes(config)), kPage);
  const int64_t block_bytes = image_bytes + step_bytes;
  const int64_t bytes = kPage + block_bytes * num_blocks;
  GDNPLAN_ASSIGN_OR_RETURN(cuda::PinnedMemory memory,
                           cuda::PinnedMemory::Create(static_cast<size_t>(bytes)));
  // Touched here, so that no plan pays for it; and nothing of another session's is ever sent.
  std::memset(memory.data(), 0, memory.size());
  new (memory.data()) std::atomic<uint64_t>(0);
  StagingRing ring(std::move(memory));
  for (int32_t i = 0; i < num_blocks; ++i) {
    std::byte* image = ring.memory_.data() + kPage + block_bytes * i;
    plan::InitializeSlot(layout, image);
    ring.blocks_.push_back({.image = image, .step = image + image_bytes, .reach = {}});
  }
  return ring;
}

StagingBlock& StagingRing::Take(uint64_t value) {
  StagingBlock& block = blocks_[next_];
  next_ = (next_ + 1) % blocks_.size();
  block.last_value = value;
  return block;
}

}  // namespace gdnplan::server
