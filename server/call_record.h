// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What is kept of a call of a session once it is answered.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "gdnplan/plan/counts.h"

namespace gdnplan::server {

enum class CallKind : uint8_t { kPlan, kUpdate };

// When a call went from one stage to the next. A stage that it did not come to is kNever.
struct CallTimes {
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever{};

  Time received;   // its message is about to be parsed
  Time submitted;  // its session has it
  Time begun;      // its slot is free
  Time enqueued;   // all work is done, or enqueued on the devices
  Time answered;
};

struct CallRecord {
  CallKind kind = CallKind::kPlan;
  absl::StatusCode code = absl::StatusCode::kOk;
  uint64_t session = 0;  // its number
  uint64_t plan_id = 0;  // 0: none was made
  int32_t slot = 0;
  plan::PlanCounts counts = {};
  CallTimes times = {};
};

}  // namespace gdnplan::server
