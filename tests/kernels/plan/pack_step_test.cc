// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/pack_step.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gdnplan/plan/host_fill.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::OwnedBatch;
using test::IsOk;
using test::PlannedSlot;
using test::Random;

constexpr std::byte kUntouched{0xA5};
constexpr size_t kGuardBytes = 64;

// Memory of exactly the size asked for, with a guard behind it.
class Block {
 public:
  explicit Block(size_t bytes) : bytes_(bytes), lines_(bytes / 64 + 2) {
    std::fill_n(data(), bytes_ + kGuardBytes, kUntouched);
  }
  std::byte* data() { return lines_.front().bytes; }
  bool guard_is_intact() {
    return std::all_of(data() + bytes_, data() + bytes_ + kGuardBytes,
                       [](std::byte byte) { return byte == kUntouched; });
  }

 private:
  struct alignas(kTensorAlignment) Line {
    std::byte bytes[kTensorAlignment];
  };
  size_t bytes_;
  std::vector<Line> lines_;
};

TEST(PackStepTest, FillsToTheSameBytes) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const PlanConfig config = test::RandomConfig(random);
    PlannedSlot slot(config);
    Block packed(PackedStepBytes(config));
    for (int b = 0; b < 10; ++b) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", batch " + std::to_string(b));
      OwnedBatch batch = test::RandomBatch(config, random);
      ASSERT_THAT(slot.Plan(batch.view()), IsOk());
      const StepInput step = PackStep(slot.planner().input(), -1, packed.data());
      ASSERT_TRUE(packed.guard_is_intact());
      // The packed step refers to nothing of the batch's or the planner's.
      for (json::OwnedBlockTable& table : batch.block_tables) {
        std::fill(table.block_ids.begin(), table.block_ids.end(), -77);
      }
      const auto bytes = static_cast<size_t>(slot.planner().slot_layout().slot_bytes);
      Block other(bytes);
      InitializeSlot(slot.planner().slot_layout(), other.data());
      ConvReach reach;
      FillSlot(step, slot.layout(), other.data(), reach);
      for (const TensorSpec& spec : TensorTable()) {
        if (!slot.layout()[spec.id].present) continue;
        for (int32_t group = 0; group < (spec.per_group ? config.num_groups() : 1); ++group) {
          EXPECT_EQ(test::ReadTensor(slot.layout(), {other.data(), bytes}, spec.id, group)->data,
                    slot.Read(spec.id, group)->data)
              << spec.name << " of group " << group;
        }
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(PackStepTest, OneGroupOnly) {
  Random random(3);
  PlanConfig config = test::RandomConfig(random);
  config.groups.resize(3);
  PlannedSlot slot(config);
  const OwnedBatch batch = test::RandomBatch(config, random);
  ASSERT_THAT(slot.Plan(batch.view()), IsOk());
  const json::OwnedBlockTable table = test::RandomBlockTable(config, 1, batch, random);
  ASSERT_THAT(slot.Regather(1, table.view()), IsOk());

  Block packed(PackedStepBytes(config));
  const StepInput step = PackStep(slot.planner().input(), 1, packed.data());
  const auto bytes = static_cast<size_t>(slot.planner().slot_layout().slot_bytes);
  Block other(bytes);
  FillGroupStates(step, slot.layout(), 1, other.data());
  for (TensorId id : {TensorId::kNonSpecStateIndices, TensorId::kSpecStateIndices,
                      TensorId::kPrefillStateIndices}) {
    if (!slot.layout()[id].present) continue;
    EXPECT_EQ(test::ReadTensor(slot.layout(), {other.data(), bytes}, id, 1)->data,
              slot.Read(id, 1)->data);
  }
}

}  // namespace
}  // namespace gdnplan::plan
