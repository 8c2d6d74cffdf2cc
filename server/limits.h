// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What one server lets its clients have.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/constants.h"

namespace gdnplan::server {

struct Limits {
  int max_sessions = 64;
  // Of a session's configuration, each at most what the contract allows.
  int32_t max_num_seqs = plan::kMaxNumSeqs;
  int32_t max_num_batched_tokens = plan::kMaxNumBatchedTokens;
  int32_t max_groups = plan::kMaxGroups;
  int32_t max_slots = plan::kMaxSlots;
  // Of a session's arena, and of all arenas on a device. 0: what the device has.
  uint64_t max_session_bytes = 0;
  uint64_t max_device_bytes = 0;
  int32_t max_followers = 64;  // of a session
};

// ResourceExhausted, naming the field, the value and the limit.
absl::Status CheckLimits(const Limits& limits, const plan::PlanConfig& config,
                         const plan::ArenaLayout& layout);

}  // namespace gdnplan::server
