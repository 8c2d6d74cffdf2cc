// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/boot.h"

#include "gdnplan/plan/status.h"

namespace gdnplan::server {

absl::StatusOr<std::shared_ptr<Boot>> Boot::Create() {
  GDNPLAN_ASSIGN_OR_RETURN(const RandomId id, MakeRandomId());
  return std::make_shared<Boot>(id);
}

plan::ArenaHeader Boot::Header(const plan::ArenaLayout& layout, uint64_t generation) const {
  return {.magic = plan::kArenaMagic,
          .layout_version = plan::kArenaLayoutVersion,
          .num_slots = static_cast<uint32_t>(layout.num_slots),
          .boot_id = id_,
          .generation = generation,
          .arena_bytes = static_cast<uint64_t>(layout.arena_bytes),
          .slots_offset = static_cast<uint64_t>(layout.slots_offset),
          .slot_stride = static_cast<uint64_t>(layout.slot_stride)};
}

}  // namespace gdnplan::server
