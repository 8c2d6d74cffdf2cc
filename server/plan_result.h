// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a session answers: one plan, where it is and how far it got.
#pragma once

#include <cstdint>

#include "gdnplan/plan/counts.h"
#include "gdnplan/plan/layout.h"
#include "server/device.h"

namespace gdnplan::server {

struct PlanResult {
  uint64_t plan_id = 0;
  uint64_t timeline_value = 0;  // what the slot's `ready` becomes
  int32_t slot = 0;
  int64_t slot_offset = 0;  // bytes from the arena's start
  plan::PlanCounts counts;
  plan::PlanLayout layout;  // offsets from the slot's start
  FillKind fill = FillKind::kHost;
  bool complete = false;  // on every device
  uint64_t server_time_ns = 0;
};

}  // namespace gdnplan::server
