// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What an owner asks for at each step, and whether it got that: its worker knows both as well.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/expected_plan.h"
#include "tests/faults/options.h"
#include "tests/testing/random_batch.h"

namespace gdnplan::test {

inline constexpr int32_t kSlots = 2;
// Of calls, and to connect: a server that was stopped, or that starts, is waited for.
inline constexpr std::chrono::milliseconds kDeadline{10'000};
// Before the next attempt after a failure.
inline constexpr std::chrono::milliseconds kPause{20};

inline plan::PlanConfig ConfigOf(const FaultOptions& options) {
  Random random(options.seed + static_cast<uint64_t>(options.number));
  return RandomConfig(random);
}

inline json::OwnedBatch BatchOf(const plan::PlanConfig& config, const FaultOptions& options,
                                uint64_t step) {
  Random random(options.seed + (static_cast<uint64_t>(options.number) << 48) + step);
  return RandomBatch(config, random);
}

// What is wrong with a plan. An error: it cannot be read.
inline absl::StatusOr<std::vector<std::string>> Compare(load::ExpectedPlan& expected,
                                                        const plan::BatchView& batch,
                                                        const client::PlanView& plan) {
  auto mismatches = expected.Compare(batch, plan);
  if (!absl::IsInvalidArgument(mismatches.status())) return mismatches;
  // The server has planned what must be refused.
  return std::vector<std::string>{std::string(mismatches.status().message())};
}

// Whether the server waits until the worker has consumed a slot. A worker's CPU can say so only in
// host memory.
inline bool IsGuarded(const FaultOptions& options) {
  return options.device.starts_with("host") && options.number % 3 == 2;
}

}  // namespace gdnplan::test
