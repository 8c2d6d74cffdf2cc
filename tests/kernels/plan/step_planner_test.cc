// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/step_planner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/pack_step.h"
#include "tests/testing/allocation_counter.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::OwnedBatch;
using test::IsOk;
using test::PlannedSlot;
using test::Random;
using test::StatusIs;
using ::testing::ElementsAre;

// Speculative rows of these lengths, one after the other; length 0 is a padded row.
OwnedBatch Speculative(const PlanConfig& config, const std::vector<int32_t>& lens) {
  OwnedBatch batch;
  batch.query_start_loc = {0};
  for (int32_t len : lens) {
    batch.query_start_loc.push_back(batch.query_start_loc.back() + len);
    batch.seq_lens.push_back(len);
    batch.num_decode_draft_tokens.push_back(len - 1);
    batch.num_accepted_tokens.push_back(1);
  }
  const int32_t width = config.state_columns();
  batch.block_tables.assign(
      config.groups.size(),
      {std::vector<int32_t>(lens.size() * static_cast<size_t>(width), 5), width});
  return batch;
}

TEST(StepPlannerTest, DoesNotAllocateOnceMade) {
  Random random(11);
  PlanConfig config = test::RandomConfig(random);
  config.num_speculative_tokens = 3;
  std::vector<OwnedBatch> batches;
  for (int i = 0; i < 200; ++i) batches.push_back(test::RandomBatch(config, random));
  std::vector<BatchView> views;
  for (const OwnedBatch& batch : batches) views.push_back(batch.view());

  PlannedSlot slot(config);
  std::vector<std::byte> packed(PackedStepBytes(config) + 64);
  void* block = packed.data();
  size_t space = packed.size();
  std::align(64, PackedStepBytes(config), block, space);
  const int64_t before = test::AllocationCount();
  bool all_ok = true;
  for (const BatchView& view : views) {
    all_ok = slot.Plan(view).ok() && slot.Regather(0, view.block_tables[0]).ok() && all_ok;
    PackStep(slot.planner().input(), -1, static_cast<std::byte*>(block));
  }
  const int64_t after = test::AllocationCount();
  EXPECT_EQ(after - before, 0);
  EXPECT_TRUE(all_ok);
  // The counter does count.
  const auto memory = std::make_unique<std::string>(100, 'x');
  EXPECT_GE(test::AllocationCount() - after, 2);
}

TEST(StepPlannerTest, HasNoStepAtFirst) {
  StepPlanner planner(test::SampleConfig());
  EXPECT_FALSE(planner.has_step());
  const json::OwnedBlockTable table = {{1, 2, 3}, 3};
  EXPECT_THAT(planner.Regather(0, table.view()), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(planner.Plan(BatchView()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(planner.has_step());
  const OwnedBatch batch = test::SampleBatch();
  EXPECT_THAT(planner.Plan(batch.view()), IsOk());
  EXPECT_TRUE(planner.has_step());
}

TEST(StepPlannerTest, KeepsTheBatchButNotItsTables) {
  PlannedSlot slot(test::SampleConfig());
  OwnedBatch batch = test::SampleBatch();
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  const auto accepted = slot.Read(TensorId::kNumAcceptedTokens)->data;
  const auto starts = slot.Read(TensorId::kPrefillQueryStartLoc)->data;
  const auto has_state = slot.Read(TensorId::kHasInitialState)->data;
  for (std::vector<int32_t>* array : {&batch.query_start_loc, &batch.seq_lens,
                                      &batch.num_decode_draft_tokens, &batch.num_accepted_tokens}) {
    std::fill(array->begin(), array->end(), -99);
  }
  slot.Fill();
  EXPECT_EQ(slot.Read(TensorId::kNumAcceptedTokens)->data, accepted);
  EXPECT_EQ(slot.Read(TensorId::kPrefillQueryStartLoc)->data, starts);
  EXPECT_EQ(slot.Read(TensorId::kHasInitialState)->data, has_state);
}

TEST(StepPlannerTest, WorksAfterAMove) {
  const OwnedBatch batch = test::SampleBatch();
  StepPlanner first(test::SampleConfig());
  ASSERT_THAT(first.Plan(batch.view()), IsOk());
  const PlanLayout layout = first.layout();
  StepPlanner second(std::move(first));
  EXPECT_EQ(second.layout(), layout);
  EXPECT_EQ(second.input().groups[1].width, 5);
  EXPECT_EQ(second.input().query_start_loc[2], 4);
  ASSERT_THAT(second.Plan(batch.view()), IsOk());
  EXPECT_EQ(second.layout(), layout);
}

TEST(StepPlannerTest, StaysInsideTheScratchItIsGiven) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  Random random(5);
  for (int c = 0; c < 20; ++c) {
    const PlanConfig config = test::RandomConfig(random);
    const size_t bytes = StepPlanner::ScratchBytes(config);
    ASSERT_EQ(bytes % 64, 0u);
    std::vector<Line> scratch(bytes / 64 + 1);
    std::byte* start = scratch.front().bytes;
    std::fill_n(start, bytes + 64, std::byte{0xA5});
    StepPlanner planner(config, {start, bytes});
    for (int b = 0; b < 20; ++b) {
      const OwnedBatch batch = test::RandomBatch(config, random);
      ASSERT_THAT(planner.Plan(batch.view()), IsOk());
      const auto* used = reinterpret_cast<const std::byte*>(planner.input().query_start_loc);
      EXPECT_TRUE(start <= used && used < start + bytes);
    }
    EXPECT_TRUE(std::all_of(start + bytes, start + bytes + 64,
                            [](std::byte byte) { return byte == std::byte{0xA5}; }));
  }
}

struct StagingCase {
  const char* name;
  bool full_graphs;
  int32_t capture_size;
  std::vector<int32_t> lens;
  Staging staging;
};

void PrintTo(const StagingCase& staging, std::ostream* out) { *out << staging.name; }

class StagingTest : public ::testing::TestWithParam<StagingCase> {};

TEST_P(StagingTest, WithinTheLimitsOnly) {
  PlanConfig config = test::SampleConfig();
  config.groups[1].mamba_cache_mode = MambaCacheMode::kNone;
  config.use_full_cuda_graph = GetParam().full_graphs;
  config.max_cudagraph_capture_size = GetParam().capture_size;
  StepPlanner planner(config);
  const OwnedBatch batch = Speculative(config, GetParam().lens);
  ASSERT_THAT(planner.Plan(batch.view()), IsOk());
  EXPECT_EQ(planner.input().counts.staging, GetParam().staging);
}

const StagingCase kStaging[] = {
    {"speculative", true, 12, {3, 3, 3, 3}, Staging::kSpecDecode},
    {"speculative_without_full_graphs", false, 12, {3, 3, 3, 3}, Staging::kNone},
    {"speculative_at_the_token_limit", true, 9, {3, 3, 3}, Staging::kSpecDecode},
    {"speculative_over_the_token_limit", true, 8, {3, 3, 3}, Staging::kNone},
    {"speculative_at_the_row_limit", true, 4, {3, 0, 0, 0}, Staging::kSpecDecode},
    {"speculative_over_the_row_limit", true, 3, {3, 0, 0, 0}, Staging::kNone},
    {"decode", true, 12, {1, 1, 1, 1}, Staging::kDecode},
    {"decode_without_full_graphs", false, 12, {1, 1, 1, 1}, Staging::kNone},
    {"decode_at_the_row_limit", true, 4, {1, 1, 0, 0}, Staging::kDecode},
    {"decode_over_the_row_limit", true, 3, {1, 1, 0, 0}, Staging::kNone},
    {"padded_rows_alone", true, 4, {0, 0}, Staging::kDecode},
};
INSTANTIATE_TEST_SUITE_P(Cases, StagingTest, ::testing::ValuesIn(kStaging),
                         [](const auto& param) { return param.param.name; });

TEST(StagingTest, PromptTailOfSpeculativeShapeIsAPrefill) {
  StepPlanner planner(test::SampleConfig());
  OwnedBatch batch = test::SampleBatch();
  batch.num_decode_draft_tokens = {-1, -1, -1, -1};
  batch.query_start_loc = {0, 3, 3, 3, 3};
  ASSERT_THAT(planner.Plan(batch.view()), IsOk());
  EXPECT_EQ(planner.input().counts.num_prefills, 1);
  EXPECT_EQ(planner.input().counts.staging, Staging::kNone);
}

TEST(CaptureTest, DraftsAndAcceptedTokensFollowFromTheRows) {
  PlannedSlot slot(test::SampleConfig());
  OwnedBatch batch = test::SampleBatch();
  batch.kind = BatchKind::kCudagraphCapture;
  batch.query_start_loc = {0, 3, 5, 8, 8};
  // Of a step before: not read.
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  EXPECT_EQ(slot.counts().staging, Staging::kSpecDecode);
  EXPECT_EQ(slot.counts().num_spec_decodes, 3);
  EXPECT_EQ(slot.counts().uniform_spec_sequence_length, 0);
  EXPECT_THAT(slot.Read(TensorId::kNumAcceptedTokens)->data, ElementsAre(3, 2, 3, 1));
  EXPECT_THAT(slot.Read(TensorId::kSpecQueryStartLoc)->data, ElementsAre(0, 3, 5, 8, 8));
}

TEST(CaptureTest, WithoutSpeculationIsADecode) {
  PlanConfig config = test::SampleConfig();
  config.num_speculative_tokens = 0;
  PlannedSlot slot(config);
  OwnedBatch batch = test::SampleDecodes();
  batch.kind = BatchKind::kCudagraphCapture;
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  EXPECT_EQ(slot.counts().staging, Staging::kDecode);
}

TEST(RegatherTest, RefusalsNameTheTableAndLeaveTheStep) {
  PlannedSlot slot(test::SampleConfig());
  const OwnedBatch batch = test::SampleBatch();
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  const auto before = slot.Read(TensorId::kNonSpecStateIndices, 1)->data;
  const json::OwnedBlockTable narrow = {std::vector<int32_t>(8, 1), 2};
  const json::OwnedBlockTable few_rows = {std::vector<int32_t>(9, 1), 3};
  const json::OwnedBlockTable short_gather = {std::vector<int32_t>(16, 1), 4};
  json::OwnedBlockTable negative = batch.block_tables[1];
  negative.block_ids[9] = -5;
  const auto code = absl::StatusCode::kInvalidArgument;
  for (int32_t group :
       {-1, 2, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
    EXPECT_THAT(slot.Regather(group, batch.block_tables[0].view()),
                StatusIs(code, "group: must be in 0..1 (got " + std::to_string(group) + ")"));
  }
  EXPECT_THAT(
      slot.Regather(1, narrow.view()),
      StatusIs(code, "block_table.width: must be at least 1 + num_speculative_tokens = 3 (got 2)"));
  EXPECT_THAT(
      slot.Regather(1, few_rows.view()),
      StatusIs(code, "block_table.block_ids: must have 4 rows of width 3, 12 elements (got 9)"));
  EXPECT_THAT(slot.Regather(1, short_gather.view()),
              StatusIs(code,
                       "block_table.block_ids[4]: row 1 of 40 tokens needs columns 2..4 of a "
                       "table of width 4"));
  EXPECT_THAT(slot.Regather(1, negative.view()),
              StatusIs(code, "block_table.block_ids[9]: a block id must not be negative (got -5)"));
  slot.Fill();
  EXPECT_EQ(slot.Read(TensorId::kNonSpecStateIndices, 1)->data, before);
}

TEST(RegatherTest, TakesATableOfAnotherWidth) {
  PlannedSlot slot(test::SampleConfig());
  const OwnedBatch batch = test::SampleBatch();
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  json::OwnedBlockTable wide = {std::vector<int32_t>(4 * 7), 7};
  for (size_t i = 0; i < wide.block_ids.size(); ++i) wide.block_ids[i] = static_cast<int32_t>(i);
  ASSERT_THAT(slot.Regather(1, wide.view()), IsOk());
  EXPECT_THAT(slot.Read(TensorId::kSpecStateIndices, 1)->data, ElementsAre(1, 2, 3));
  EXPECT_THAT(slot.Read(TensorId::kNonSpecStateIndices, 1)->data, ElementsAre(9, 14, 0));
}

}  // namespace
}  // namespace gdnplan::plan
