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
#include "tests/testing/expect_plan.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/reference_plan.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::OwnedBatch;
using test::ExpectPlan;
using test::ExpectSoundLayout;
using test::IsOk;
using test::PlannedSlot;
using test::Random;

constexpr int kConfigs = 1000;
constexpr int kBatchesPerConfig = 25;

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
