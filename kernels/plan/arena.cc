// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/arena.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/plan_math.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::plan {
namespace {

constexpr int64_t kPage = 4096;

}  // namespace

absl::StatusOr<ArenaLayout> ArenaLayout::Create(const PlanConfig& config, int32_t num_slots) {
  if (num_slots < 1 || num_slots > kMaxSlots) {
    return InvalidField("num_slots",
                        absl::StrCat("must be in 1..", kMaxSlots, " (got ", num_slots, ")"));
  }
  ArenaLayout layout{SlotLayout(config)};
  layout.num_slots = num_slots;
  layout.slots_offset = AlignUp(kTimelineOffset + num_slots * int64_t{sizeof(SlotTimeline)}, kPage);
  layout.slot_stride = AlignUp(layout.slot.slot_bytes, kPage);
  layout.arena_bytes = AlignUp(layout.slots_offset + num_slots * layout.slot_stride, kArenaGranule);
  return layout;
}

}  // namespace gdnplan::plan
