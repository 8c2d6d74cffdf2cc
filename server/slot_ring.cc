// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/slot_ring.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "server/nvtx.h"
#include "server/out_of_memory.h"

namespace gdnplan::server {
namespace {

// A look at a value on a device takes some 10 us. One that takes longer is left to the poller.
constexpr std::chrono::microseconds kLook{50};

}  // namespace

SlotRing::SlotRing(const plan::PlanConfig& config, const plan::ArenaLayout& layout, bool guarded,
                   std::vector<SessionArena> arenas)
    : layout_(layout), guarded_(guarded), arenas_(std::move(arenas)) {
  slots_.reserve(static_cast<size_t>(layout.num_slots));
  for (int32_t i = 0; i < layout.num_slots; ++i) slots_.emplace_back(config);
}

int32_t SlotRing::next_index() const {
  return static_cast<int32_t>(num_plans_ % static_cast<uint64_t>(layout_.num_slots));
}

const SessionArena* SlotRing::FirstBusyArena() const {
  const int32_t index = next_index();
  const uint64_t holder = slots_[static_cast<size_t>(index)].timeline_value;
  for (const SessionArena& arena : arenas_) {
    if (!arena.memory->CanWrite()) return &arena;
    if (guarded_ && arena.memory->Consumed(index) < holder) return &arena;
  }
  return nullptr;
}

std::string SlotRing::DescribeBusy() const {
  const SessionArena* arena = FirstBusyArena();
  if (arena == nullptr) return {};
  const int32_t index = next_index();
  const Slot& slot = slots_[static_cast<size_t>(index)];
  if (!arena->memory->CanWrite()) {
    return absl::StrCat("device ", arena->device_id, " has too many plans in flight; the first of ",
                        "them waits for its slot's consumer");
  }
  return absl::StrCat("slot ", index, " holds plan ", slot.plan_id, ", whose consumer on device ",
                      arena->device_id, " has not written consumed = ", slot.timeline_value,
                      " (got ", arena->memory->Consumed(index), ")");
}

bool SlotRing::CanUpdate() const {
  return std::all_of(arenas_.begin(), arenas_.end(),
                     [](const SessionArena& arena) { return arena.memory->CanWrite(); });
}

void SlotRing::Promise(uint64_t timeline_value) {
  for (const SessionArena& arena : arenas_) arena.memory->Promise(timeline_value);
}

void SlotRing::ReleaseConsumer(const std::string& device_id) {
  for (const SessionArena& arena : arenas_) {
    if (arena.device_id == device_id) arena.memory->ReleaseConsumer();
  }
}

absl::Status SlotRing::CheckDevices(const std::vector<std::string>& device_ids) const {
  for (size_t i = 0; i < device_ids.size(); ++i) {
    const bool known = std::any_of(arenas_.begin(), arenas_.end(), [&](const SessionArena& arena) {
      return arena.device_id == device_ids[i];
    });
    if (known) continue;
    return plan::InvalidElement("consumer_of", static_cast<int64_t>(i),
                                absl::StrCat("must be a device of the session (got ",
                                             absl::CHexEscape(device_ids[i].substr(0, 64)), ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PlanResult> SlotRing::Plan(const plan::BatchView& batch) {
  const int32_t index = next_index();
  Slot& slot = slots_[static_cast<size_t>(index)];
  {
    const NvtxRange range("layout");
    GDNPLAN_RETURN_IF_ERROR(slot.planner.Plan(batch));
  }
  const uint64_t after_consumed = guarded_ ? slot.timeline_value : 0;
  last_plan_id_ = ++last_value_;
  ++num_plans_;
  slot.plan_id = last_plan_id_;
  slot.timeline_value = last_plan_id_;
  return WriteAll(index, -1, after_consumed);
}

absl::StatusOr<PlanResult> SlotRing::Update(uint64_t plan_id, int32_t group,
                                            const plan::BlockTableView& table) {
  if (plan_id == 0 || plan_id > last_plan_id_) {
    return plan::InvalidField("plan_id", absl::StrCat("must be of a plan, in 1..", last_plan_id_,
                                                      " (got ", plan_id, ")"));
  }
  const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                 [&](const Slot& s) { return s.plan_id == plan_id; });
  if (slot == slots_.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("plan_id: no slot holds plan ", plan_id, " any more; the last plan is ",
                     last_plan_id_, " and the session has ", slots_.size(), " slots"));
  }
  GDNPLAN_RETURN_IF_ERROR(slot->planner.Regather(group, table));
  slot->timeline_value = ++last_value_;
  // The caller orders this against readers of the plan.
  return WriteAll(static_cast<int32_t>(slot - slots_.begin()), group, 0);
}

absl::StatusOr<PlanResult> SlotRing::WriteAll(int32_t index, int32_t group,
                                              uint64_t after_consumed) {
  const Slot& slot = slots_[static_cast<size_t>(index)];
  PlanResult result{.plan_id = slot.plan_id,
                    .timeline_value = slot.timeline_value,
                    .slot = index,
                    .slot_offset = layout_.slot_offset(index),
                    .counts = slot.planner.input().counts,
                    .layout = slot.planner.layout(),
                    .complete = true};
  const SlotWrite write{.slot = index,
                        .group = group,
                        .timeline_value = slot.timeline_value,
                        .after_consumed = after_consumed,
                        .input = slot.planner.input(),
                        .layout = slot.planner.layout()};
  for (const SessionArena& arena : arenas_) {
    const absl::StatusOr<WriteResult> written =
        CatchOutOfMemory([&] { return arena.memory->Write(write); });
    if (!written.ok()) {
      failed_ = true;
      return written.status();
    }
    arena.fills->Count(written->fill);
    result.fill = written->fill;
    result.complete = result.complete && written->complete;
  }
  GDNPLAN_RETURN_IF_ERROR(AwaitLooks());
  return result;
}

absl::Status SlotRing::AwaitLooks() {
  const auto looking = [](const SessionArena& arena) { return arena.memory->IsLooking(); };
  if (std::none_of(arenas_.begin(), arenas_.end(), looking)) return absl::OkStatus();
  const auto end = std::chrono::steady_clock::now() + kLook;
  while (std::any_of(arenas_.begin(), arenas_.end(), looking) &&
         std::chrono::steady_clock::now() < end) {
  }
  return Advance().status();
}

bool SlotRing::HasDeferred() const {
  return std::any_of(arenas_.begin(), arenas_.end(),
                     [](const SessionArena& arena) { return arena.memory->HasDeferred(); });
}

absl::StatusOr<bool> SlotRing::Advance() {
  bool advanced = false;
  for (const SessionArena& arena : arenas_) {
    const absl::StatusOr<bool> some = CatchOutOfMemory([&] { return arena.memory->Advance(); });
    if (!some.ok()) {
      failed_ = true;
      return some.status();
    }
    advanced = advanced || *some;
  }
  return advanced;
}

absl::Status SlotRing::CheckBusy() {
  const int32_t index = next_index();
  for (const SessionArena& arena : arenas_) {
    const absl::StatusOr<bool> ready = CatchOutOfMemory([&] {
      return arena.memory->IsReady(index, slots_[static_cast<size_t>(index)].timeline_value);
    });
    if (ready.ok()) continue;
    failed_ = true;
    return ready.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SlotRing::IsReady(int32_t slot, uint64_t timeline_value) {
  for (const SessionArena& arena : arenas_) {
    const absl::StatusOr<bool> ready =
        CatchOutOfMemory([&] { return arena.memory->IsReady(slot, timeline_value); });
    if (!ready.ok()) failed_ = true;
    if (!ready.ok() || !*ready) return ready;
  }
  return true;
}

}  // namespace gdnplan::server
