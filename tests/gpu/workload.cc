// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/workload.h"

#include "tests/testing/random_batch.h"

namespace gdnplan::test {

plan::PlanConfig MixedConfig() {
  plan::PlanConfig config;
  config.max_num_seqs = 64;
  config.max_num_batched_tokens = 8192;
  config.num_speculative_tokens = 3;
  config.use_full_cuda_graph = true;
  config.max_cudagraph_capture_size = 128;
  config.groups = {{"plain", plan::MambaCacheMode::kNone, 0},
                   {"all", plan::MambaCacheMode::kAll, 0},
                   {"aligned", plan::MambaCacheMode::kAlign, 256},
                   {"aligned too", plan::MambaCacheMode::kAlign, 1024}};
  return config;
}

json::OwnedBatch BatchOf(const plan::PlanConfig& config, uint64_t seed, uint64_t index) {
  // Far apart for neighbours in both.
  Random random(seed * 0x9E3779B97F4A7C15U + index);
  return RandomBatch(config, random);
}

}  // namespace gdnplan::test
