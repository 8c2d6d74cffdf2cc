// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/host_device.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/status.h"
#include "server/shared_memory.h"

namespace gdnplan::server {
namespace {

// A share of the device's bytes, given back when it goes.
class Claim {
 public:
  Claim(std::shared_ptr<std::atomic<uint64_t>> used, uint64_t bytes)
      : used_(std::move(used)), bytes_(bytes), before_(used_->fetch_add(bytes)) {}
  Claim(Claim&&) = default;
  Claim& operator=(Claim&&) = delete;
  ~Claim() {
    if (used_ != nullptr) used_->fetch_sub(bytes_);
  }
  uint64_t before() const { return before_; }

 private:
  std::shared_ptr<std::atomic<uint64_t>> used_;
  uint64_t bytes_;
  uint64_t before_;
};

class HostArena final : public DeviceArena {
 public:
  HostArena(Claim claim, SharedMemory memory, const plan::ArenaLayout& layout)
      : claim_(std::move(claim)),
        memory_(std::move(memory)),
        layout_(layout),
        reach_(static_cast<size_t>(layout.num_slots)) {}

  void Initialize(const plan::ArenaHeader& header) {
    generation_ = header.generation;
    std::memcpy(memory_.data(), &header, sizeof(header));
    for (int32_t slot = 0; slot < layout_.num_slots; ++slot) {
      timelines_.push_back(new (memory_.data() + layout_.ready_offset(slot))
                               plan::SlotTimeline{.ready = 0, .consumed = 0, .promised = 0});
      plan::InitializeSlot(layout_.slot, Slot(slot));
    }
  }

  MemoryHandle handle() const override { return PosixSharedMemoryHandle{memory_.name()}; }
  uint64_t generation() const override { return generation_; }

  absl::StatusOr<WriteResult> Write(const SlotWrite& write) override {
    if (write.group < 0) {
      plan::FillSlot(write.input, write.layout, Slot(write.slot),
                     reach_[static_cast<size_t>(write.slot)]);
    } else {
      plan::FillGroupStates(write.input, write.layout, write.group, Slot(write.slot));
    }
    Timeline(write.slot).ready.store(write.timeline_value, std::memory_order_release);
    last_value_ = write.timeline_value;
    return WriteResult{.fill = FillKind::kHost, .complete = true};
  }

  uint64_t Consumed(int32_t slot) const override {
    return Timeline(slot).consumed.load(std::memory_order_acquire);
  }

  // Promise does nothing: a host write cannot wait for a consumer, only for what it did.

  void ReleaseConsumer() override {
    for (plan::SlotTimeline* timeline : timelines_) {
      timeline->consumed.store(last_value_, std::memory_order_release);
    }
  }

  // A write is complete as it returns.
  absl::StatusOr<bool> IsReady(int32_t /*slot*/, uint64_t /*timeline_value*/) override {
    return true;
  }

 private:
  std::byte* Slot(int32_t slot) const { return memory_.data() + layout_.slot_offset(slot); }
  plan::SlotTimeline& Timeline(int32_t slot) const {
    return *timelines_[static_cast<size_t>(slot)];
  }

  Claim claim_;
  SharedMemory memory_;
  const plan::ArenaLayout layout_;
  std::vector<plan::SlotTimeline*> timelines_;
  // Kept here, not in the arena, which clients can write.
  std::vector<plan::ConvReach> reach_;
  uint64_t generation_ = 0;
  uint64_t last_value_ = 0;
};

}  // namespace

HostDevice::HostDevice(std::shared_ptr<Boot> boot, const Options& options)
    : boot_(std::move(boot)),
      options_(options),
      used_bytes_(std::make_shared<std::atomic<uint64_t>>(0)) {}

DeviceInfo HostDevice::info() const {
  DeviceInfo info;
  info.kind = DeviceKind::kHost;
  info.id = options_.index == 0 ? "host" : absl::StrCat("host:", options_.index);
  info.name = "shared memory";
  info.fills = fills()->counts();
  const SharedMemorySpace space = GetSharedMemorySpace();
  info.memory_bytes = space.total;
  info.available_bytes = space.available;
  if (options_.limit_bytes > 0) {
    const uint64_t used = std::min(used_bytes_->load(), options_.limit_bytes);
    info.memory_bytes = std::min(info.memory_bytes, options_.limit_bytes);
    info.available_bytes = std::min(info.available_bytes, options_.limit_bytes - used);
  }
  return info;
}

absl::StatusOr<std::unique_ptr<DeviceArena>> HostDevice::CreateArena(const ArenaRequest& request) {
  const plan::ArenaLayout& layout = request.layout;
  const auto bytes = static_cast<uint64_t>(layout.arena_bytes);
  Claim claim(used_bytes_, bytes);
  const uint64_t limit = options_.limit_bytes;
  if (limit > 0 && (claim.before() > limit || bytes > limit - claim.before())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("device ", info().id, ": ", bytes, " bytes asked, ",
                     limit - std::min(limit, claim.before()), " of ", limit,
                     " available; close sessions or ask for smaller limits"));
  }
  const uint64_t generation = boot_->NextGeneration();
  GDNPLAN_ASSIGN_OR_RETURN(
      SharedMemory memory,
      SharedMemory::Create(absl::StrCat("/gdnplan-", boot_->hex(), "-", generation), bytes));
  auto arena = std::make_unique<HostArena>(std::move(claim), std::move(memory), layout);
  arena->Initialize(boot_->Header(layout, generation));
  return arena;
}

}  // namespace gdnplan::server
