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

// Transfers from page-aligned images are the fastest; a progress word has a page of its own.
constexpr int64_t kPage = 4096;

}  // namespace

StagingRing::StagingRing(std::shared_ptr<Shared> shared, cuda::PinnedMemory progress)
    : shared_(std::move(shared)), progress_(std::move(progress)) {
  for (StagedBytes& bytes : shared_->bytes) blocks_.emplace_back().bytes = &bytes;
}

absl::StatusOr<StagingRing> StagingRing::Create(std::shared_ptr<Shared> shared) {
  GDNPLAN_ASSIGN_OR_RETURN(cuda::PinnedMemory progress, cuda::PinnedMemory::Create(kPage));
  new (progress.data()) std::atomic<uint64_t>(0);
  return StagingRing(std::move(shared), std::move(progress));
}

absl::StatusOr<StagingRing> StagingRing::Create(const plan::PlanConfig& config,
                                                const plan::SlotLayout& layout,
                                                int32_t num_blocks) {
  const int64_t image_bytes = plan::AlignUp(layout.slot_bytes, kPage);
  const int64_t step_bytes =
      plan::AlignUp(static_cast<int64_t>(plan::PackedStepBytes(config)), kPage);
  const int64_t block_bytes = image_bytes + step_bytes;
  GDNPLAN_ASSIGN_OR_RETURN(
      cuda::PinnedMemory memory,
      cuda::PinnedMemory::Create(static_cast<size_t>(block_bytes * num_blocks)));
  // Touched here, so that no plan pays for it; and nothing of another session's is ever sent.
  std::memset(memory.data(), 0, memory.size());
  auto shared = std::make_shared<Shared>(std::move(memory));
  for (int32_t i = 0; i < num_blocks; ++i) {
    std::byte* image = shared->memory.data() + block_bytes * i;
    plan::InitializeSlot(layout, image);
    StagedBytes& bytes = shared->bytes.emplace_back();
    bytes.image = image;
    bytes.step = image + image_bytes;
  }
  return Create(std::move(shared));
}

absl::StatusOr<StagingRing> StagingRing::Share(const StagingRing& first) {
  return Create(first.shared_);
}

StagingBlock& StagingRing::Take(uint64_t value) {
  StagingBlock& block = blocks_[next_];
  next_ = (next_ + 1) % blocks_.size();
  block.last_value = value;
  ++num_pending_;
  return block;
}

}  // namespace gdnplan::server
