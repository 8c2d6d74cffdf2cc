// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Deadlines as gRPC takes them, of its monotonic clock: the system's may be set meanwhile.
#pragma once

#include <grpc/support/time.h>

#include <chrono>

namespace gdnplan::wire {

inline gpr_timespec DeadlineIn(std::chrono::nanoseconds left) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(left.count(), GPR_TIMESPAN));
}

}  // namespace gdnplan::wire
