// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a simulated engine is like. The defaults are those of an engine with a model of 80 billion
// parameters on one H200, so far as they have one.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "client/load/trace.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::load {

struct SchedulerOptions {
  // Limits of a step, as in plan::PlanConfig.
  int32_t max_num_seqs = 256;
  int32_t max_num_batched_tokens = 8192;
  int32_t num_speculative_tokens = 0;
  bool use_full_cuda_graph = true;
  int32_t max_cudagraph_capture_size = 512;
  plan::PrefillBackend prefill_backend = plan::PrefillBackend::kTriton;
  int32_t chunk_size = 64;

  // Prompt tokens of one request in a step at most; 0: as many as the step takes.
  int32_t long_prefill_threshold = 0;

  // The model's KV-cache groups with GDN states, alike: kNone or kAlign, the modes engines run.
  int32_t groups = 1;
  plan::MambaCacheMode mamba_cache_mode = plan::MambaCacheMode::kNone;
  // All groups draw from one pool, and so do the attention layers between the GDN layers: they hold
  // a block for every block_size tokens of a request. These are in no batch, but are what runs out.
  int32_t num_blocks = 8192;
  int32_t block_size = 544;

  // How likely each draft token is accepted, given that those before it were.
  double acceptance_rate = 0.7;

  // Traces have no prompts, so their common beginnings are made up: that part of the requests
  // begins with one of prefix_families texts, for that fraction of its prompt. 0: no prefix cache.
  double prefix_rate = 0;
  double prefix_fraction = 0.5;
  int32_t prefix_families = 16;

  // Arrivals come that many times as fast. Steps last as long as before.
  double speed = 1;
  // How long a step lasts: so long, and per token more.
  double step_ms = 6;
  double step_us_per_token = 25;

  uint64_t seed = 1;
};

// InvalidArgument naming the first option that is out of range.
absl::Status ValidateOptions(const SchedulerOptions& options);

// `options` must be valid.
plan::PlanConfig MakeConfig(const SchedulerOptions& options);

// InvalidArgument naming the first request that could never run. `options` must be valid.
absl::Status ValidateRequests(const SchedulerOptions& options, std::span<const Request> requests);

}  // namespace gdnplan::load
