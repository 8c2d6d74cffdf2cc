// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's one allocation on a device: header, timeline values, slots. Written by the service,
// mapped by clients.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "gdnplan/plan/layout.h"

namespace gdnplan::plan {

inline constexpr std::array<char, 8> kArenaMagic = {'G', 'D', 'N', 'P', 'L', 'A', 'N', '1'};
// ArenaHeader::layout_version: of the header and the timeline values.
inline constexpr uint32_t kArenaLayoutVersion = 1;
// An IPC handle exposes whole granules of this size, so an arena is made of them.
inline constexpr int64_t kArenaGranule = 2 << 20;

// At the arena's start. Written once, before the arena is announced.
struct ArenaHeader {
  std::array<char, 8> magic;
  uint32_t layout_version;
  uint32_t num_slots;
  std::array<uint8_t, 16> boot_id;  // of the server process
  uint64_t generation;              // of the arena within that process
  uint64_t arena_bytes;
  uint64_t slots_offset;
  uint64_t slot_stride;
};
static_assert(std::is_trivially_copyable_v<ArenaHeader> && sizeof(ArenaHeader) == 64);

// A slot's timeline values, on cache lines of their own. All only rise.
struct SlotTimeline {
  // The service: the plan's timeline value, after the plan's bytes.
  alignas(64) std::atomic<uint64_t> ready;
  // Whoever consumes the plans: that value, after its last read.
  alignas(64) std::atomic<uint64_t> consumed;
  // The consumer's CPU, where values are in host memory: that value, once its stream is bound to
  // write it to `consumed`.
  alignas(64) std::atomic<uint64_t> promised;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(SlotTimeline) == 192);

// Offsets in an arena of `num_slots` slots. Immutable, freely copied.
struct ArenaLayout {
  // InvalidArgument ("num_slots") unless 1..kMaxSlots. `config` must be valid.
  static absl::StatusOr<ArenaLayout> Create(const PlanConfig& config, int32_t num_slots);

  int64_t slot_offset(int32_t index) const { return slots_offset + index * slot_stride; }
  int64_t ready_offset(int32_t index) const {
    return kTimelineOffset + index * int64_t{sizeof(SlotTimeline)};
  }
  int64_t consumed_offset(int32_t index) const { return ready_offset(index) + 64; }
  int64_t promised_offset(int32_t index) const { return ready_offset(index) + 128; }

  static constexpr int64_t kTimelineOffset = 128;

  SlotLayout slot;
  int32_t num_slots = 0;
  int64_t slots_offset = 0;
  int64_t slot_stride = 0;
  int64_t arena_bytes = 0;  // a multiple of kArenaGranule

 private:
  explicit ArenaLayout(const SlotLayout& slot_layout) : slot(slot_layout) {}
};

}  // namespace gdnplan::plan
