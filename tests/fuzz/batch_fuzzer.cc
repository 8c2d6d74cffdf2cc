// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A batch as it comes over the wire. Input: a byte that chooses one of FuzzConfigs(), then a
// serialized Batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gdnplan/plan/status.h"
#include "tests/fuzz/configs.h"
#include "tests/testing/expect_plan.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/reference_plan.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

void ExpectRefusal(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.GetPayload(plan::ToAbsl(plan::kFieldPayload)).has_value());
}

// The first part of the slot is overwritten before the fill with something else each time: what is
// equal after both was written by both.
void ExpectTheSameAgain(PlannedSlot& slot, const plan::BatchView& batch) {
  const std::vector<std::byte> before(slot.slot().begin(), slot.slot().end());
  const plan::PlanLayout layout = slot.layout();
  const plan::PlanCounts counts = slot.counts();
  ASSERT_TRUE(slot.Plan(batch, std::byte{0x5A}).ok());
  EXPECT_EQ(slot.layout(), layout);
  EXPECT_EQ(slot.counts(), counts);
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    if (!layout[spec.id].present) continue;
    const int32_t groups = spec.per_group ? slot.planner().config().num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      const auto now = TensorBytes(layout, slot.slot(), spec.id, group);
      const auto then = TensorBytes(layout, before, spec.id, group);
      EXPECT_TRUE(std::equal(now.begin(), now.end(), then.begin())) << spec.name;
    }
  }
}

void Run(const plan::PlanConfig& config, const v1::Batch& message) {
  std::vector<plan::BlockTableView> tables;
  const absl::StatusOr<plan::BatchView> batch = wire::FromProto(message, tables);
  if (!batch.ok()) return ExpectRefusal(batch.status());
  PlannedSlot slot(config);
  const absl::Status planned = slot.Plan(*batch);
  if (!planned.ok()) {
    EXPECT_FALSE(slot.planner().has_step());
    return ExpectRefusal(planned);
  }
  ExpectSoundLayout(slot);
  ExpectPlan(slot, MakeReferencePlan(config, *batch));
  ExpectTheSameAgain(slot, *batch);
}

}  // namespace
}  // namespace gdnplan::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return -1;
  gdnplan::v1::Batch message;
  if (!message.ParseFromArray(data + 1, static_cast<int>(size - 1))) return -1;
  const auto& configs = gdnplan::test::FuzzConfigs();
  gdnplan::test::Run(configs[data[0] % configs.size()], message);
  return 0;
}
