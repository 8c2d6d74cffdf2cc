// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Which tensors a step has and where they lie.
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "gdnplan/plan/step_planner.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using test::IsOk;
using ::testing::ElementsAre;

std::vector<TensorId> Present(const PlanLayout& layout) {
  std::vector<TensorId> ids;
  for (const TensorSpec& spec : TensorTable()) {
    if (layout[spec.id].present) ids.push_back(spec.id);
  }
  return ids;
}

TEST(StepLayoutTest, SpeculativeBesidePrefillsHasEverything) {
  StepPlanner planner(test::SampleConfig());
  const json::OwnedBatch batch = test::SampleBatch();
  ASSERT_THAT(planner.Plan(batch.view()), IsOk());
  EXPECT_EQ(Present(planner.layout()).size(), static_cast<size_t>(kNumTensors));
  const PlanLayout& layout = planner.layout();
  EXPECT_THAT(layout[TensorId::kSpecStateIndices].dims, ElementsAre(1, 3));
  EXPECT_THAT(layout[TensorId::kNonSpecQueryStartLoc].dims, ElementsAre(4, 0));
  EXPECT_THAT(layout[TensorId::kSpecTokenIndx].dims, ElementsAre(3, 0));
  EXPECT_THAT(layout[TensorId::kNonSpecTokenIndx].dims, ElementsAre(6, 0));
  EXPECT_THAT(layout[TensorId::kChunkIndices].dims, ElementsAre(2, 2));
  EXPECT_THAT(layout[TensorId::kBatchPtr].dims, ElementsAre(2048, 0));
}

TEST(StepLayoutTest, DecodesHaveTwoTensorsAtTheFront) {
  StepPlanner planner(test::SampleConfig());
  const json::OwnedBatch batch = test::SampleDecodes();
  ASSERT_THAT(planner.Plan(batch.view()), IsOk());
  const PlanLayout& layout = planner.layout();
  EXPECT_THAT(Present(layout),
              ElementsAre(TensorId::kNonSpecQueryStartLoc, TensorId::kNonSpecStateIndices));
  EXPECT_EQ(layout[TensorId::kNonSpecQueryStartLoc].offset, 0);
  EXPECT_EQ(layout[TensorId::kNonSpecStateIndices].offset, 128);
  EXPECT_EQ(layout[TensorId::kNonSpecStateIndices].group_stride, 16) << "3 int32, rounded up";
  EXPECT_EQ(layout.packed_bytes, 256);
}

TEST(StepLayoutTest, SpeculativeAloneHasAnEmptyNonSpecTokenIndx) {
  StepPlanner planner(test::SampleConfig());
  json::OwnedBatch batch = test::SampleBatch();
  batch.query_start_loc = {0, 3, 3, 3, 3};
  ASSERT_THAT(planner.Plan(batch.view()), IsOk());
  EXPECT_THAT(Present(planner.layout()),
              ElementsAre(TensorId::kSpecQueryStartLoc, TensorId::kNumAcceptedTokens,
                          TensorId::kSpecSequenceMasks, TensorId::kSpecStateIndices,
                          TensorId::kSpecTokenIndx, TensorId::kNonSpecTokenIndx));
  EXPECT_THAT(planner.layout()[TensorId::kNonSpecTokenIndx].dims, ElementsAre(0, 0));
  EXPECT_THAT(planner.layout()[TensorId::kSpecStateIndices].dims, ElementsAre(4, 3)) << "staged";
}

TEST(StepLayoutTest, FixedTensorsStayWhereTheyAre) {
  PlanConfig config = test::SampleConfig();
  config.max_num_batched_tokens = 20'000;
  StepPlanner planner(config);
  json::OwnedBatch batch = test::SampleBatch();
  for (int32_t tokens : {5, 16'000, 40}) {
    batch.query_start_loc = {0, 3, 4, 4 + tokens, 4 + tokens};
    batch.seq_lens[2] = tokens;
    batch.num_actual_tokens.reset();
    batch.block_tables[1] = {std::vector<int32_t>(4 * 1003, 1), 1003};
    ASSERT_THAT(planner.Plan(batch.view()), IsOk());
    const PlanLayout& layout = planner.layout();
    EXPECT_EQ(layout[TensorId::kBatchPtr].offset, planner.slot_layout().batch_ptr_offset);
    EXPECT_EQ(layout[TensorId::kTokenChunkOffsetPtr].offset,
              planner.slot_layout().token_chunk_offset_ptr_offset);
    const int32_t programs = (tokens + 7) / 8 + 1;
    EXPECT_EQ(layout[TensorId::kBatchPtr].dims[0], std::max(1024, programs) * 2);
  }
}

}  // namespace
}  // namespace gdnplan::plan
