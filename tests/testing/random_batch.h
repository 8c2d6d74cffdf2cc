// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Seeded random configurations and batches, all of them legal, over the whole space: cache modes,
// backends, groups, padded rows at the back and in the middle, stale table rows, mixes of
// speculative rows, capture batches, token padding, limits hit exactly.
#pragma once

#include <cstdint>
#include <random>

#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::test {

// The standard leaves distributions to the library: this gives the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // Both bounds included.
  int32_t Between(int32_t low, int32_t high);
  bool Chance(int32_t percent) { return Between(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

plan::PlanConfig RandomConfig(Random& random);
json::OwnedBatch RandomBatch(const plan::PlanConfig& config, Random& random);

// A table that suits the batch, for one group.
json::OwnedBlockTable RandomBlockTable(const plan::PlanConfig& config, int32_t group,
                                       const json::OwnedBatch& batch, Random& random);

}  // namespace gdnplan::test
