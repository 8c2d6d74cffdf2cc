// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Batches that two processes can make alike from a seed.
#pragma once

#include <cstdint>

#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::test {

// A hybrid model's: K = 3, four groups of different cache modes, up to 64 rows and 8,192 tokens,
// so that plans of very different size follow each other.
plan::PlanConfig MixedConfig();

// The index-th batch of a seed.
json::OwnedBatch BatchOf(const plan::PlanConfig& config, uint64_t seed, uint64_t index);

}  // namespace gdnplan::test
