// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/shape.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "client/load/random.h"
#include "client/load/shape_source.h"
#include "gdnplan/plan/step_planner.h"
#include "tests/client/load/checked_replay.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using absl::StatusCode;
using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<ShapeSource>> MakeSource(const std::vector<std::string>& texts,
                                                        ShapeOptions options = {}) {
  for (const std::string& text : texts) {
    const auto shape = ParseShape(text);
    EXPECT_THAT(shape, IsOk());
    options.shapes.push_back(*shape);
  }
  return ShapeSource::Create(options);
}

void ExpectShapeRefused(const std::string& text, const std::string& message) {
  EXPECT_THAT(ParseShape(text), StatusIs(StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(ShapeTest, ParsesEveryKey) {
  const auto shape = ParseShape(
      "9*decode=200,spec=3,k=4,prefill=8x1024,padded=5,groups=2,mode=align,block_size=16");
  ASSERT_THAT(shape, IsOk());
  EXPECT_EQ(shape->weight, 9);
  EXPECT_EQ(shape->decodes, 200);
  EXPECT_EQ(shape->spec_rows, 3);
  EXPECT_EQ(shape->num_speculative_tokens, 4);
  EXPECT_EQ(shape->prefills, 8);
  EXPECT_EQ(shape->prefill_tokens, 1024);
  EXPECT_EQ(shape->padded, 5);
  EXPECT_EQ(shape->groups, 2);
  EXPECT_EQ(shape->mamba_cache_mode, plan::MambaCacheMode::kAlign);
  EXPECT_EQ(shape->block_size, 16);
  EXPECT_EQ(shape->num_rows(), 216);
}

TEST(ShapeTest, NamesWhatIsWrong) {
  ExpectShapeRefused("", "shape \"\": : must be KEY=VALUE, such as decode=256");
  ExpectShapeRefused("decode", "decode: must be KEY=VALUE");
  ExpectShapeRefused("decode=256,", "must be KEY=VALUE");
  ExpectShapeRefused("rows=1",
                     "rows: no such key; there are decode, spec, k, prefill, padded, groups");
  ExpectShapeRefused("decode=abc", "decode: must be a whole number in 0..65536 (got \"abc\")");
  ExpectShapeRefused("decode=65537", "(got \"65537\")");
  ExpectShapeRefused("decode=-1", "(got \"-1\")");
  ExpectShapeRefused("decode=1,decode=2", "decode: is given twice");
  ExpectShapeRefused("spec=1,k=65", "k: must be a whole number in 0..64");
  ExpectShapeRefused("prefill=8", "prefill: must be ROWSxTOKENS, such as 8x1024 (got \"8\")");
  ExpectShapeRefused("prefill=8x", "prefill: must be a whole number in 1..16777216 (got \"\")");
  ExpectShapeRefused("mode=some,decode=1", "mode: must be none, all or align (got \"some\")");
  ExpectShapeRefused("0*decode=1", "weight: must be a whole number in 1..1000000 (got \"0\")");
  ExpectShapeRefused("padded=3", "there must be at least one with tokens");
}

TEST(ShapeSourceTest, HasTheRowsThatTheShapeNames) {
  const auto source = MakeSource({"decode=1,spec=2,k=3,prefill=2x100,padded=1,groups=2"});
  ASSERT_THAT(source, IsOk());
  Step step;
  ASSERT_TRUE((*source)->Next(step));
  EXPECT_THAT(step.batch.query_start_loc, ElementsAre(0, 4, 8, 9, 109, 209, 209));
  EXPECT_THAT(step.batch.num_decode_draft_tokens, ElementsAre(3, 3, -1, -1, -1, -1));
  EXPECT_THAT(step.batch.is_prefilling, ElementsAre(0, 0, 0, 1, 1, 0));
  EXPECT_EQ(step.batch.num_actual_tokens, 209);
  EXPECT_EQ(step.batch.block_tables.size(), 2u);
  EXPECT_EQ(step.batch.block_tables[1].width, 4);
  EXPECT_EQ(step.due_s, 0);
  EXPECT_EQ((*source)->config().max_num_seqs, 1024);
  EXPECT_EQ((*source)->config().max_num_batched_tokens, 16'384);
}

TEST(ShapeSourceTest, PadsDecodesToAGraph) {
  const auto source = MakeSource({"spec=6,k=3,padded=2"});
  ASSERT_THAT(source, IsOk());
  Step step;
  ASSERT_TRUE((*source)->Next(step));
  EXPECT_EQ(step.batch.query_start_loc.back(), 24);
  EXPECT_EQ(step.batch.num_actual_tokens, 32);
}

TEST(ShapeSourceTest, CyclesByWeight) {
  const auto source = MakeSource({"3*decode=10", "prefill=1x50", "2*decode=2"});
  ASSERT_THAT(source, IsOk());
  std::vector<size_t> rows;
  Step step;
  for (int i = 0; i < 8 && (*source)->Next(step); ++i) rows.push_back(step.batch.seq_lens.size());
  EXPECT_THAT(rows, ElementsAre(10, 10, 10, 1, 2, 2, 10, 10));
}

TEST(ShapeSourceTest, RefusesWhatDoesNotGoTogether) {
  const auto expect_refused = [](const std::vector<std::string>& texts, const ShapeOptions& options,
                                 const std::string& message) {
    EXPECT_THAT(MakeSource(texts, options),
                StatusIs(StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  expect_refused({}, {}, "shapes: there must be at least one, such as decode=256");
  expect_refused(
      {"spec=1,k=3", "spec=1,k=2"}, {},
      "shape \"spec=1,k=2\": k must be the 3 of a shape before, for they share a session (got 2)");
  expect_refused({"decode=1,mode=all", "decode=1,mode=none"}, {},
                 "shape \"decode=1,mode=none\": mode must be the all");
  expect_refused({"spec=1"}, {},
                 "shape \"spec=1\": has speculative rows and no draft tokens; give k");
  ShapeOptions few_rows;
  few_rows.max_num_seqs = 8;
  expect_refused(
      {"decode=9"}, few_rows,
      "shape \"decode=9\": has 9 rows, over max_num_seqs 8; ask for fewer or raise the limit");
  ShapeOptions few_tokens;
  few_tokens.max_num_batched_tokens = 512;
  expect_refused({"prefill=2x300"}, few_tokens,
                 "shape \"prefill=2x300\": has 600 tokens, over max_num_batched_tokens 512");
  expect_refused({"prefill=60000x16777216"}, {}, "over max_num_batched_tokens 16777216");
  expect_refused({"decode=60000,prefill=60000x1"}, {}, "over max_num_seqs 65536");
}

TEST(ShapeSourceTest, EveryStepIsLegalAndSeedsDecide) {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    ShapeOptions options;
    options.seed = random.Next();
    const int32_t drafts = random.Between(1, 5);
    for (int32_t shapes = random.Between(1, 3); shapes > 0; --shapes) {
      Shape shape;
      shape.weight = random.Between(1, 2);
      shape.decodes = random.Between(0, 20);
      shape.spec_rows = random.Between(0, 20);
      shape.num_speculative_tokens = drafts;
      shape.prefills = random.Between(1, 4);
      shape.prefill_tokens = random.Between(1, 3000);
      shape.padded = random.Between(0, 5);
      shape.mamba_cache_mode = static_cast<plan::MambaCacheMode>(i % 3);
      shape.block_size = 200 + i;
      shape.groups = 1 + i % 4;
      options.shapes.push_back(shape);
    }
    const auto source = ShapeSource::Create(options);
    const auto again = ShapeSource::Create(options);
    options.seed = ~options.seed;
    const auto other = ShapeSource::Create(options);
    ASSERT_THAT(source, IsOk());
    plan::StepPlanner planner((*source)->config());
    Step step;
    for (int n = 0; n < 5; ++n) {
      ASSERT_TRUE((*source)->Next(step));
      ASSERT_THAT(planner.Plan(step.batch.view()), IsOk());
      const uint64_t hash = HashOf(step, 0);
      ASSERT_TRUE((*again)->Next(step));
      EXPECT_EQ(HashOf(step, 0), hash);
      ASSERT_TRUE((*other)->Next(step));
      EXPECT_NE(HashOf(step, 0), hash);
    }
  }
}

}  // namespace
}  // namespace gdnplan::load
