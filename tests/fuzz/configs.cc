// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/configs.h"

#include <cstdint>
#include <utility>

#include "tests/testing/sample_batch.h"

namespace gdnplan::test {
namespace {

using plan::MambaCacheMode;
using plan::PrefillBackend;

plan::PlanConfig Config(int32_t speculative_tokens, PrefillBackend backend,
                        std::vector<plan::GroupConfig> groups) {
  plan::PlanConfig config;
  config.max_num_seqs = 32;
  config.max_num_batched_tokens = 4096;
  config.num_speculative_tokens = speculative_tokens;
  config.use_full_cuda_graph = true;
  config.max_cudagraph_capture_size = 16;
  config.prefill_backend = backend;
  config.groups = std::move(groups);
  return config;
}

}  // namespace

const std::vector<plan::PlanConfig>& FuzzConfigs() {
  static const std::vector<plan::PlanConfig> configs = [] {
    std::vector<plan::PlanConfig> list = {
        SampleConfig(),
        Config(0, PrefillBackend::kTriton, {{"", MambaCacheMode::kNone, 0}}),
        Config(1, PrefillBackend::kFlashinfer, {{"", MambaCacheMode::kAll, 0}}),
        Config(2, PrefillBackend::kCutedsl, {{"", MambaCacheMode::kAlign, 64}}),
        Config(3, PrefillBackend::kTriton,
               {{"a", MambaCacheMode::kNone, 0}, {"b", MambaCacheMode::kAlign, 1}}),
        Config(64, PrefillBackend::kCutedsl, {{"", MambaCacheMode::kNone, 0}}),
    };
    // No graphs; a chunk of one token.
    list.push_back(Config(3, PrefillBackend::kFlashinfer, {{"", MambaCacheMode::kAlign, 16}}));
    list.back().use_full_cuda_graph = false;
    list.back().chunk_size = 1;
    // The smallest that there is.
    list.push_back(Config(0, PrefillBackend::kCutedsl, {{"", MambaCacheMode::kAlign, 1}}));
    list.back().max_num_seqs = 1;
    list.back().max_num_batched_tokens = 1;
    return list;
  }();
  return configs;
}

}  // namespace gdnplan::test
