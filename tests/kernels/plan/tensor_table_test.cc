// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/tensor_table.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "gdnplan/plan/constants.h"

namespace gdnplan::plan {
namespace {

using ::testing::ElementsAre;

TEST(TensorTableTest, IsIndexedById) {
  ASSERT_EQ(TensorTable().size(), static_cast<size_t>(kNumTensors));
  for (int i = 0; i < kNumTensors; ++i) {
    EXPECT_EQ(Spec(static_cast<TensorId>(i)).id, static_cast<TensorId>(i));
  }
}

TEST(TensorTableTest, NamesAreFoundAndDifferent) {
  std::set<std::string_view> names;
  for (const TensorSpec& spec : TensorTable()) {
    EXPECT_EQ(FindTensor(spec.name), spec.id);
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.shape.empty()) << spec.name;
  }
  EXPECT_EQ(FindTensor("batch_pt"), std::nullopt);
  EXPECT_EQ(FindTensor("batch_ptrs"), std::nullopt);
  EXPECT_EQ(FindTensor(""), std::nullopt);
}

// Clients and kernels count on these.
TEST(TensorTableTest, KindsOfTensors) {
  std::vector<TensorId> masks;
  std::vector<TensorId> per_group;
  std::vector<TensorId> tables;
  std::vector<TensorId> fixed;
  for (const TensorSpec& spec : TensorTable()) {
    if (spec.dtype == DType::kUInt8) masks.push_back(spec.id);
    if (spec.per_group) per_group.push_back(spec.id);
    if (spec.rank == 2) tables.push_back(spec.id);
    if (spec.fixed_place) fixed.push_back(spec.id);
  }
  EXPECT_THAT(masks, ElementsAre(TensorId::kSpecSequenceMasks, TensorId::kHasInitialState,
                                 TensorId::kPrefillHasInitialState));
  EXPECT_THAT(per_group, ElementsAre(TensorId::kNonSpecStateIndices, TensorId::kSpecStateIndices,
                                     TensorId::kPrefillStateIndices));
  EXPECT_THAT(tables, ElementsAre(TensorId::kSpecStateIndices, TensorId::kChunkIndices));
  EXPECT_THAT(fixed, ElementsAre(TensorId::kBatchPtr, TensorId::kTokenChunkOffsetPtr));
  EXPECT_EQ(SizeOf(DType::kInt32), 4);
  EXPECT_EQ(SizeOf(DType::kUInt8), 1);
}

TEST(TensorTableTest, CapacitiesOfTheLargestConfigFitInt32) {
  PlanConfig config;
  config.max_num_seqs = kMaxNumSeqs;
  config.max_num_batched_tokens = kMaxNumBatchedTokens;
  config.num_speculative_tokens = kMaxSpeculativeTokens;
  config.groups.resize(kMaxGroups);
  for (PrefillBackend backend : {PrefillBackend::kTriton, PrefillBackend::kCutedsl}) {
    for (int32_t chunk_size : {1, kMaxChunkSize}) {
      config.prefill_backend = backend;
      config.chunk_size = chunk_size;
      for (const TensorSpec& spec : TensorTable()) {
        EXPECT_GT(spec.capacity(config), 0) << spec.name;
        EXPECT_LE(spec.capacity(config), std::numeric_limits<int32_t>::max()) << spec.name;
      }
    }
  }
}

}  // namespace
}  // namespace gdnplan::plan
