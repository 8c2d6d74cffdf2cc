// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a scheduler does in chosen situations.
#include "client/load/scheduler.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "client/load/trace_source.h"
#include "tests/client/load/checked_replay.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using absl::StatusCode;
using plan::MambaCacheMode;
using test::IsOk;
using test::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs a scheduler to its end, collects what steps look like.
struct Outcome {
  std::vector<std::vector<int32_t>> query_lens;  // of each step, padded rows counted
  std::vector<int32_t> num_actual_tokens;
  std::vector<double> due_s;
  std::vector<std::vector<int32_t>> requests;
  SchedulerStats stats;
};

Outcome OutcomeOf(const std::vector<Request>& requests, const SchedulerOptions& options) {
  {
    auto checked = Scheduler::Create(requests, options);
    EXPECT_THAT(checked, IsOk());
    CheckedReplay(**checked, options, requests).Run();
  }
  auto scheduler = Scheduler::Create(requests, options);
  Outcome outcome;
  Step step;
  while ((*scheduler)->Next(step)) {
    std::vector<int32_t>& lens = outcome.query_lens.emplace_back();
    for (size_t i = 0; i < step.batch.seq_lens.size(); ++i) {
      lens.push_back(step.batch.query_start_loc[i + 1] - step.batch.query_start_loc[i]);
    }
    outcome.num_actual_tokens.push_back(*step.batch.num_actual_tokens);
    outcome.due_s.push_back(step.due_s);
    std::vector<int32_t>& rows = outcome.requests.emplace_back();
    for (const ScheduledRow& row : (*scheduler)->rows()) rows.push_back(row.request);
  }
  outcome.stats = (*scheduler)->stats();
  return outcome;
}

TEST(SchedulerTest, CutsLongPromptsIntoChunks) {
  SchedulerOptions options;
  options.max_num_batched_tokens = 16'384;
  const std::vector<Request> requests = {{0, 85'000, 2}};
  EXPECT_THAT(
      OutcomeOf(requests, options).query_lens,
      ElementsAre(ElementsAre(16'384), ElementsAre(16'384), ElementsAre(16'384),
                  ElementsAre(16'384), ElementsAre(16'384), ElementsAre(3'080), ElementsAre(1)));
  // States that others may use lie at the ends of blocks: 30 * 544.
  options.mamba_cache_mode = MambaCacheMode::kAlign;
  EXPECT_THAT(
      OutcomeOf(requests, options).query_lens,
      ElementsAre(ElementsAre(16'320), ElementsAre(16'320), ElementsAre(16'320),
                  ElementsAre(16'320), ElementsAre(16'320), ElementsAre(3'400), ElementsAre(1)));
  options.mamba_cache_mode = MambaCacheMode::kNone;
  options.long_prefill_threshold = 40'000;
  EXPECT_EQ(OutcomeOf(requests, options).query_lens[0][0], 16'384);
  options.long_prefill_threshold = 10'000;
  EXPECT_EQ(OutcomeOf(requests, options).query_lens[8][0], 5'000);
}

TEST(SchedulerTest, PutsDecodesBeforePrompts) {
  SchedulerOptions options;
  options.max_num_batched_tokens = 300;
  const std::vector<Request> requests = {{0, 500, 3}, {0, 10, 4}, {0, 20, 3}, {0, 400, 2}};
  const Outcome outcome = OutcomeOf(requests, options);
  EXPECT_THAT(outcome.requests[0], ElementsAre(0));
  // What is left of the first prompt, then new ones.
  EXPECT_THAT(outcome.query_lens[1], ElementsAre(200, 10, 20, 70));
  EXPECT_THAT(outcome.requests[1], ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(outcome.query_lens[2], ElementsAre(1, 1, 1, 297));
  EXPECT_THAT(outcome.query_lens[3], ElementsAre(1, 1, 1, 33));
  EXPECT_THAT(outcome.requests[3], ElementsAre(0, 1, 2, 3));
}

TEST(SchedulerTest, AdmitsFirstComeFirstServed) {
  SchedulerOptions options;
  options.max_num_seqs = 2;
  const Outcome outcome = OutcomeOf({{0, 5, 2}, {0, 5, 3}, {0, 5, 1}, {0, 5, 1}}, options);
  EXPECT_THAT(outcome.requests,
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1), ElementsAre(1, 2), ElementsAre(3)));
}

TEST(SchedulerTest, PadsDecodesToCaptureSizes) {
  SchedulerOptions options;
  const std::vector<Request> requests(3, {0, 7, 2});
  EXPECT_THAT(OutcomeOf(requests, options).query_lens,
              ElementsAre(ElementsAre(7, 7, 7), ElementsAre(1, 1, 1, 0)));
  EXPECT_THAT(OutcomeOf(requests, options).num_actual_tokens, ElementsAre(21, 4));
  options.max_cudagraph_capture_size = 3;
  EXPECT_THAT(OutcomeOf(requests, options).num_actual_tokens, ElementsAre(21, 3));
  options.max_cudagraph_capture_size = 512;
  options.use_full_cuda_graph = false;
  EXPECT_THAT(OutcomeOf(requests, options).num_actual_tokens, ElementsAre(21, 3));
  options.use_full_cuda_graph = true;
  options.num_speculative_tokens = 1;
  options.acceptance_rate = 0;
  EXPECT_THAT(OutcomeOf(requests, options).query_lens[1], ElementsAre(2, 2, 2, 0));
  EXPECT_EQ(OutcomeOf(requests, options).num_actual_tokens[1], 8);
}

TEST(SchedulerTest, KnowsCaptureSizes) {
  plan::PlanConfig config;
  config.max_num_seqs = 20;
  EXPECT_THAT(CaptureSizes(config), ElementsAre(1, 2, 4, 8, 16));
  config.num_speculative_tokens = 2;
  config.max_cudagraph_capture_size = 31;
  EXPECT_THAT(CaptureSizes(config), ElementsAre(3, 6, 9, 18, 24));
}

TEST(SchedulerTest, AcceptsAsManyDraftsAsTheRateSays) {
  SchedulerOptions options;
  options.num_speculative_tokens = 3;
  const std::vector<Request> requests = {{0, 10, 4001}};
  options.acceptance_rate = 0;
  EXPECT_EQ(OutcomeOf(requests, options).stats.steps, 1 + 4000);
  options.acceptance_rate = 1;
  EXPECT_EQ(OutcomeOf(requests, options).stats.steps, 1 + 1000);
  // 1 + 0.7 + 0.49 + 0.343 tokens a step.
  options.acceptance_rate = 0.7;
  EXPECT_NEAR(static_cast<double>(OutcomeOf(requests, options).stats.steps), 4000 / 2.533, 60);
}

TEST(SchedulerTest, PreemptsTheNewest) {
  SchedulerOptions options;
  options.block_size = 16;
  options.num_blocks = 12;
  // Each begins with two blocks and a state and would like to grow to six.
  const std::vector<Request> requests(3, {0, 20, 70});
  const Outcome outcome = OutcomeOf(requests, options);
  EXPECT_GT(outcome.stats.preemptions, 0);
  EXPECT_GT(outcome.stats.lost_tokens, 0);
  EXPECT_EQ(outcome.stats.finished_requests, 3);
  EXPECT_THAT(outcome.requests[0], ElementsAre(0, 1, 2));
  // The oldest never stops.
  for (size_t step = 0; step < 70; ++step) EXPECT_EQ(outcome.requests[step][0], 0);
  EXPECT_THAT(outcome.requests[50], Each(::testing::Lt(2)));
}

TEST(SchedulerTest, PrefixCacheSavesWork) {
  std::vector<Request> requests;
  for (int i = 0; i < 50; ++i) requests.push_back({i * 1.0, 1000 + 20 * i, 5});
  for (const MambaCacheMode mode : {MambaCacheMode::kNone, MambaCacheMode::kAlign}) {
    SchedulerOptions options;
    options.mamba_cache_mode = mode;
    options.num_speculative_tokens = 2;
    options.groups = 2;
    options.block_size = 64;
    options.prefix_families = 2;
    const Outcome without = OutcomeOf(requests, options);
    EXPECT_EQ(without.stats.cached_tokens, 0);
    options.prefix_rate = 1;
    const Outcome with = OutcomeOf(requests, options);
    // Half of each prompt, but for the first of a family, and for what is longer than those before.
    EXPECT_EQ(with.stats.prefill_tokens + with.stats.cached_tokens, without.stats.prefill_tokens);
    EXPECT_GT(with.stats.cached_tokens, without.stats.prefill_tokens * 2 / 5);
    // All of a prompt in common: still one token is computed, and whole blocks are cached.
    options.prefix_fraction = 1;
    const Outcome whole = OutcomeOf(std::vector<Request>(10, {0, 129, 1}), options);
    EXPECT_EQ(whole.stats.cached_tokens % 128, 0);
    // With no room to keep anything it is as if there was no cache.
    options.num_blocks = 60;
    EXPECT_EQ(OutcomeOf(requests, options).stats.finished_requests, 50);
  }
}

TEST(SchedulerTest, ClockFollowsStepsAndArrivals) {
  SchedulerOptions options;
  options.step_ms = 10;
  options.step_us_per_token = 1000;
  const std::vector<Request> requests = {{0, 5, 2}, {0.005, 5, 1}, {40, 5, 1}};
  EXPECT_THAT(OutcomeOf(requests, options).due_s,
              ElementsAre(0, ::testing::DoubleNear(0.015, 1e-9), 40));
  options.speed = 100;
  EXPECT_THAT(OutcomeOf(requests, options).due_s, ElementsAre(0, ::testing::_, 0.4));
}

TEST(SchedulerTest, RefusesRequestsThatCouldNeverRun) {
  SchedulerOptions options;
  options.num_blocks = 100;
  EXPECT_THAT(Scheduler::Create({{0, 10, 10}, {1, 85'000, 500}}, options),
              StatusIs(StatusCode::kInvalidArgument,
                       "requests[1]: with 85000 prompt and 500 output tokens needs 159 blocks of "
                       "block_size 544 and could never run; raise num_blocks (got 100) or "
                       "block_size"));
  options.num_blocks = 159;
  EXPECT_THAT(Scheduler::Create({{1, 85'000, 500}}, options), IsOk());
  EXPECT_THAT(Scheduler::Create({{1, 0, 500}}, options),
              StatusIs(StatusCode::kInvalidArgument,
                       "requests[0].prompt_tokens: must be in 1..16777216 (got 0)"));
}

TEST(SchedulerTest, RefusesOptionsOutOfRange) {
  const auto expect_refused = [](auto member, auto value, const std::string& message) {
    SchedulerOptions options;
    options.*member = value;
    EXPECT_THAT(Scheduler::Create({}, options),
                StatusIs(StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  expect_refused(&SchedulerOptions::max_num_seqs, 0, "max_num_seqs: must be in 1..65536 (got 0)");
  expect_refused(&SchedulerOptions::max_num_batched_tokens, 255,
                 "max_num_batched_tokens: must be at least max_num_seqs * (1 + "
                 "num_speculative_tokens) = 256, so that");
  expect_refused(&SchedulerOptions::num_speculative_tokens, 65, "num_speculative_tokens: must be");
  expect_refused(&SchedulerOptions::mamba_cache_mode, MambaCacheMode::kAll,
                 "mamba_cache_mode: must be none or align");
  expect_refused(&SchedulerOptions::groups, 0, "groups: must be in 1..256 (got 0)");
  expect_refused(&SchedulerOptions::num_blocks, 0, "num_blocks: must be in");
  expect_refused(&SchedulerOptions::block_size, 0, "block_size: must be in");
  expect_refused(&SchedulerOptions::long_prefill_threshold, -1, "long_prefill_threshold: must be");
  expect_refused(&SchedulerOptions::acceptance_rate, 1.5,
                 "acceptance_rate: must be in 0..1 (got 1.5");
  expect_refused(&SchedulerOptions::prefix_rate, std::numeric_limits<double>::quiet_NaN(),
                 "prefix_rate: must be in 0..1 (got nan)");
  expect_refused(&SchedulerOptions::prefix_fraction, -0.1, "prefix_fraction: must be in 0..1");
  expect_refused(&SchedulerOptions::prefix_families, 0, "prefix_families: must be in");
  expect_refused(&SchedulerOptions::speed, 0.0, "speed: must be in");
  expect_refused(&SchedulerOptions::step_ms, -1.0, "step_ms: must be in");
  expect_refused(&SchedulerOptions::step_us_per_token, -1.0, "step_us_per_token: must be in");
}

TEST(TraceSourceTest, ShardsShareTheTrace) {
  std::vector<Request> trace;
  for (int i = 0; i < 10; ++i) trace.push_back({i * 0.01, 10 + i, 1});
  int64_t finished = 0;
  int64_t computed = 0;
  for (int32_t shard = 0; shard < 3; ++shard) {
    auto source = TraceSource::Create(trace, {}, {shard, 3});
    ASSERT_THAT(source, IsOk());
    Step step;
    while ((*source)->Next(step)) {
    }
    finished += (*source)->scheduler().stats().finished_requests;
    computed += (*source)->scheduler().stats().prefill_tokens;
  }
  EXPECT_EQ(finished, 10);
  EXPECT_EQ(computed, 145);
  // More replicas than requests: some have nothing to do, even over and over.
  auto idle = TraceSource::Create(trace, {}, {11, 12}, true);
  ASSERT_THAT(idle, IsOk());
  Step step;
  EXPECT_FALSE((*idle)->Next(step));
}

TEST(TraceSourceTest, RepeatsWithTimeThatGoesOn) {
  const std::vector<Request> trace = {{0.5, 100, 3}, {1.0, 50, 2}};
  auto once = TraceSource::Create(trace, {});
  auto repeated = TraceSource::Create(trace, {}, {}, true);
  ASSERT_THAT(once, IsOk());
  ASSERT_THAT(repeated, IsOk());
  Step expected;
  std::vector<double> due;
  while ((*once)->Next(expected)) due.push_back(expected.due_s);
  ASSERT_GE(due.size(), 4u);
  Step step;
  for (int round = 0; round < 3; ++round) {
    for (const double time : due) {
      ASSERT_TRUE((*repeated)->Next(step));
      EXPECT_DOUBLE_EQ(step.due_s, round * due.back() + time);
    }
  }
}

TEST(TraceSourceTest, RefusesWrongShardsAndNamesRequestsByTheirPlaceInTheTrace) {
  for (const Shard shard : {Shard{0, 0}, Shard{-1, 2}, Shard{2, 2}}) {
    EXPECT_THAT(TraceSource::Create({}, {}, shard),
                StatusIs(StatusCode::kInvalidArgument, HasSubstr("shard: must be one of")));
  }
  const std::vector<Request> trace = {{0, 1, 1}, {0, 1, 1}, {0, 10'000'000, 1}};
  EXPECT_THAT(TraceSource::Create(trace, {}, {0, 2}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("requests[2]: with 10000000")));
}

}  // namespace
}  // namespace gdnplan::load
