// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Many random small traces on random small engines.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "client/load/random.h"
#include "client/load/scheduler.h"
#include "tests/client/load/checked_replay.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using plan::MambaCacheMode;

constexpr uint64_t kCases = 600;

std::vector<Request> RandomRequests(Random& random) {
  std::vector<Request> requests(static_cast<size_t>(random.Between(1, 60)));
  const int32_t longest_prompt = random.Chance(0.3) ? 1500 : 150;
  const bool at_once = random.Chance(0.3);
  double now = 0;
  for (Request& request : requests) {
    if (!at_once && random.Chance(0.7)) now += random.Between(1, 200) * 1e-3;
    request = {now, random.Between(1, longest_prompt), random.Between(1, 40)};
  }
  return requests;
}

SchedulerOptions RandomOptions(const std::vector<Request>& requests, Random& random) {
  SchedulerOptions options;
  options.max_num_seqs = random.Between(1, 24);
  options.num_speculative_tokens = random.Chance(0.4) ? 0 : random.Between(1, 4);
  const int32_t columns = options.num_speculative_tokens + 1;
  options.max_num_batched_tokens = options.max_num_seqs * columns + random.Between(0, 300);
  options.use_full_cuda_graph = random.Chance(0.8);
  options.max_cudagraph_capture_size = random.Between(1, 64);
  options.prefill_backend = static_cast<plan::PrefillBackend>(random.Between(0, 2));
  if (random.Chance(0.3)) options.long_prefill_threshold = random.Between(1, 100);
  options.groups = random.Between(1, 3);
  options.mamba_cache_mode = random.Chance(0.5) ? MambaCacheMode::kNone : MambaCacheMode::kAlign;
  options.block_size = random.Between(1, random.Chance(0.3) ? 4 : 64);
  options.acceptance_rate = random.Between(0, 10) * 0.1;
  if (random.Chance(0.4)) {
    options.prefix_rate = random.Between(1, 10) * 0.1;
    options.prefix_fraction = random.Between(0, 10) * 0.1;
    options.prefix_families = random.Between(1, 3);
  }
  options.speed = random.Chance(0.5) ? 1 : 10;
  options.seed = random.Next();
  // As few blocks as may be, or more.
  for (const Request& request : requests) {
    const int32_t tokens =
        request.prompt_tokens + request.output_tokens - 1 + options.num_speculative_tokens;
    const int32_t need =
        (tokens + options.block_size - 1) / options.block_size + 2 * options.groups * columns;
    options.num_blocks = std::max(&request == requests.data() ? 0 : options.num_blocks, need);
  }
  options.num_blocks += random.Chance(0.4) ? 0 : random.Between(0, 400);
  return options;
}

TEST(SchedulerPropertyTest, EveryStepIsRightAndEverythingEnds) {
  SchedulerStats sum;
  int64_t padded_steps = 0;
  int64_t mixed_steps = 0;
  for (uint64_t seed = 1; seed <= kCases; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::vector<Request> requests = RandomRequests(random);
    const SchedulerOptions options = RandomOptions(requests, random);
    auto scheduler = Scheduler::Create(requests, options);
    ASSERT_THAT(scheduler, test::IsOk());
    CheckedReplay replay(**scheduler, options, requests);
    replay.Run();
    if (HasFailure()) return;
    const SchedulerStats& stats = (*scheduler)->stats();
    sum.preemptions += stats.preemptions;
    sum.cached_tokens += stats.cached_tokens;
    sum.lost_tokens += stats.lost_tokens;
    padded_steps += replay.padded_steps();
    mixed_steps += replay.mixed_steps();
  }
  // The cases reach what they are for.
  EXPECT_GT(sum.preemptions, 1000);
  EXPECT_GT(sum.cached_tokens, 1000);
  EXPECT_GT(sum.lost_tokens, 1000);
  EXPECT_GT(padded_steps, 1000);
  EXPECT_GT(mixed_steps, 1000);
}

TEST(SchedulerPropertyTest, SeedsDecide) {
  Random random(7);
  const std::vector<Request> requests = RandomRequests(random);
  SchedulerOptions options;
  options.num_speculative_tokens = 3;
  options.prefix_rate = 0.5;
  options.block_size = 16;
  const auto hash_with = [&](uint64_t seed) {
    options.seed = seed;
    auto scheduler = Scheduler::Create(requests, options);
    EXPECT_THAT(scheduler, test::IsOk());
    CheckedReplay replay(**scheduler, options, requests);
    replay.Run();
    return replay.hash();
  };
  EXPECT_EQ(hash_with(1), hash_with(1));
  EXPECT_NE(hash_with(1), hash_with(2));
}

}  // namespace
}  // namespace gdnplan::load
