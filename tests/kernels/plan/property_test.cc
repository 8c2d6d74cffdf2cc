// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Random batches against the reference planner, and what must hold of every layout.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/tensor_table.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/reference_plan.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::OwnedBatch;
using json::TensorData;
using test::IsOk;
using test::PlannedSlot;
using test::Random;
using test::ReferencePlan;

constexpr int kConfigs = 1000;
constexpr int kBatchesPerConfig = 25;

void ExpectTensor(const std::string& name, const std::optional<TensorData>& got,
                  const std::optional<TensorData>& want) {
  ASSERT_EQ(got.has_value(), want.has_value()) << name;
  if (!got.has_value()) return;
  ASSERT_EQ(got->dims, want->dims) << name;
  ASSERT_EQ(got->data.size(), want->data.size()) << name;
  for (size_t i = 0; i < got->data.size(); ++i) {
    if (name == "chunk_indices" && want->data[i] == test::kUnspecified) continue;
    ASSERT_EQ(got->data[i], want->data[i]) << name << "[" << i << "]";
  }
}

void ExpectPlan(const PlannedSlot& slot, const ReferencePlan& want) {
  const PlanCounts& got = slot.counts();
  EXPECT_EQ(got.num_prefills, want.counts.num_prefills);
  EXPECT_EQ(got.num_prefill_tokens, want.counts.num_prefill_tokens);
  EXPECT_EQ(got.num_decodes, want.counts.num_decodes);
  EXPECT_EQ(got.num_decode_tokens, want.counts.num_decode_tokens);
  EXPECT_EQ(got.num_spec_decodes, want.counts.num_spec_decodes);
  EXPECT_EQ(got.num_spec_decode_tokens, want.counts.num_spec_decode_tokens);
  EXPECT_EQ(got.num_actual_tokens, want.counts.num_actual_tokens);
  EXPECT_EQ(got.uniform_spec_sequence_length, want.counts.uniform_spec_sequence_length);
  EXPECT_EQ(got.num_conv_programs, want.counts.num_conv_programs);
  EXPECT_EQ(got.staging, want.counts.staging);
  for (const TensorSpec& spec : TensorTable()) {
    const int32_t groups = spec.per_group ? slot.planner().config().num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      ExpectTensor(std::string(spec.name), slot.Read(spec.id, group), want.Find(spec.id, group));
    }
  }
}

// Each present tensor of each group: inside its part of the slot, aligned, apart from the others.
void ExpectSoundLayout(const PlannedSlot& slot) {
  const SlotLayout& room = slot.planner().slot_layout();
  const PlanLayout& layout = slot.layout();
  EXPECT_LE(layout.packed_bytes, room.packed_capacity);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const TensorSpec& spec : TensorTable()) {
    const TensorExtent& extent = layout[spec.id];
    if (!extent.present) {
      EXPECT_EQ(extent, TensorExtent()) << spec.name;
      continue;
    }
    EXPECT_EQ(extent.offset % kTensorAlignment, 0) << spec.name;
    EXPECT_EQ(extent.group_stride % kGroupAlignment, 0) << spec.name;
    EXPECT_LE(NumElements(spec, extent), spec.capacity(slot.planner().config())) << spec.name;
    const int32_t groups = spec.per_group ? slot.planner().config().num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      const int64_t begin = extent.offset + group * extent.group_stride;
      const int64_t end = begin + NumElements(spec, extent) * SizeOf(spec.dtype);
      EXPECT_GE(begin, spec.fixed_place ? room.packed_capacity : 0) << spec.name;
      EXPECT_LE(end, spec.fixed_place ? room.slot_bytes : layout.packed_bytes) << spec.name;
      if (begin < end) ranges.emplace_back(begin, end);
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_GE(ranges[i].first, ranges[i - 1].second);
}

// Past the used programs both arrays hold the padding, over the whole of their place.
void ExpectConvTails(const PlannedSlot& slot) {
  const SlotLayout& room = slot.planner().slot_layout();
  for (int64_t offset : {room.batch_ptr_offset, room.token_chunk_offset_ptr_offset}) {
    std::vector<int32_t> elements(static_cast<size_t>(room.conv_capacity));
    std::memcpy(elements.data(), slot.slot().data() + offset, elements.size() * sizeof(int32_t));
    const auto used = slot.counts().num_conv_programs;
    const bool padded = std::all_of(elements.begin() + used, elements.end(),
                                    [](int32_t element) { return element == kPadSlotId; });
    // A plan without prefills does not have them and may leave them as they were.
    EXPECT_TRUE(padded || !slot.layout()[TensorId::kBatchPtr].present);
  }
}

// A graph captured for a row count reads the same addresses whatever the rows are.
class StagedPlaces {
 public:
  void Check(const PlannedSlot& slot, int32_t num_rows) {
    if (slot.counts().staging == Staging::kNone) return;
    std::vector<TensorExtent> places;
    for (int id = 0; id <= static_cast<int>(TensorId::kSpecStateIndices); ++id) {
      places.push_back(slot.layout()[static_cast<TensorId>(id)]);
    }
    const auto key = std::pair(slot.counts().staging, num_rows);
    EXPECT_EQ(places_.try_emplace(key, places).first->second, places);
  }

 private:
  std::map<std::pair<Staging, int32_t>, std::vector<TensorExtent>> places_;
};

// Every byte of every tensor comes from the fill, not from what the slot held.
void ExpectAllWritten(PlannedSlot& slot, const OwnedBatch& batch) {
  const std::vector<std::byte> before(slot.slot().begin(), slot.slot().end());
  ASSERT_THAT(slot.Plan(batch.view(), std::byte{0x5A}), IsOk());
  for (const TensorSpec& spec : TensorTable()) {
    if (!slot.layout()[spec.id].present) continue;
    const int32_t groups = spec.per_group ? slot.planner().config().num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      const auto now = test::TensorBytes(slot.layout(), slot.slot(), spec.id, group);
      const auto then = test::TensorBytes(slot.layout(), before, spec.id, group);
      EXPECT_TRUE(std::equal(now.begin(), now.end(), then.begin())) << spec.name;
    }
  }
}

class PropertyTest : public ::testing::TestWithParam<int> {};

TEST_P(PropertyTest, EqualsTheReference) {
  for (int c = 0; c < kConfigs / 10; ++c) {
    const int seed = GetParam() * 1'000'000 + c;
    Random random(static_cast<uint64_t>(seed));
    const PlanConfig config = test::RandomConfig(random);
    ASSERT_THAT(ValidateConfig(config), IsOk());
    PlannedSlot slot(config);
    StagedPlaces staged_places;
    for (int b = 0; b < kBatchesPerConfig; ++b) {
      SCOPED_TRACE("config seed " + std::to_string(seed) + ", batch " + std::to_string(b));
      OwnedBatch batch = test::RandomBatch(config, random);
      ASSERT_THAT(slot.Plan(batch.view()), IsOk());
      ExpectPlan(slot, test::MakeReferencePlan(config, batch.view()));
      ExpectSoundLayout(slot);
      ExpectConvTails(slot);
      staged_places.Check(slot, batch.view().num_rows());
      if (b % 5 == 0) ExpectAllWritten(slot, batch);
      if (random.Chance(25)) {
        const int32_t group = random.Between(0, config.num_groups() - 1);
        auto& table = batch.block_tables[static_cast<size_t>(group)];
        table = test::RandomBlockTable(config, group, batch, random);
        ASSERT_THAT(slot.Regather(group, table.view()), IsOk());
        ExpectPlan(slot, test::MakeReferencePlan(config, batch.view()));
      }
      if (HasFailure()) return;
    }
  }
}

// Ten parts, so that they can run beside one another.
INSTANTIATE_TEST_SUITE_P(Seeds, PropertyTest, ::testing::Range(0, 10));

}  // namespace
}  // namespace gdnplan::plan
