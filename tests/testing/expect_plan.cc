// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/expect_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::test {
namespace {

using json::TensorData;

void ExpectTensor(const std::string& name, const std::optional<TensorData>& got,
                  const std::optional<TensorData>& want) {
  ASSERT_EQ(got.has_value(), want.has_value()) << name;
  if (!got.has_value()) return;
  ASSERT_EQ(got->dims, want->dims) << name;
  ASSERT_EQ(got->data.size(), want->data.size()) << name;
  for (size_t i = 0; i < got->data.size(); ++i) {
    if (name == "chunk_indices" && want->data[i] == kUnspecified) continue;
    ASSERT_EQ(got->data[i], want->data[i]) << name << "[" << i << "]";
  }
}

}  // namespace

void ExpectPlan(const PlannedSlot& slot, const ReferencePlan& want) {
  const plan::PlanCounts& got = slot.counts();
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
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    const int32_t groups = spec.per_group ? slot.planner().config().num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      ExpectTensor(std::string(spec.name), slot.Read(spec.id, group), want.Find(spec.id, group));
    }
  }
}

void ExpectSoundLayout(const PlannedSlot& slot) {
  const plan::SlotLayout& room = slot.planner().slot_layout();
  const plan::PlanLayout& layout = slot.layout();
  EXPECT_LE(layout.packed_bytes, room.packed_capacity);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    const plan::TensorExtent& extent = layout[spec.id];
    if (!extent.present) {
      EXPECT_EQ(extent, plan::TensorExtent()) << spec.name;
      continue;
    }
    EXPECT_EQ(extent.offset % plan::kTensorAlignment, 0) << spec.name;
    EXPECT_EQ(extent.group_stride % plan::kGroupAlignment, 0) << spec.name;
    EXPECT_LE(plan::NumElements(spec, extent), spec.capacity(slot.planner().config())) << spec.name;
    const int32_t groups = spec.per_group ? slot.planner().config().num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      const int64_t begin = extent.offset + group * extent.group_stride;
      const int64_t end = begin + plan::NumElements(spec, extent) * plan::SizeOf(spec.dtype);
      EXPECT_GE(begin, spec.fixed_place ? room.packed_capacity : 0) << spec.name;
      EXPECT_LE(end, spec.fixed_place ? room.slot_bytes : layout.packed_bytes) << spec.name;
      if (begin < end) ranges.emplace_back(begin, end);
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_GE(ranges[i].first, ranges[i - 1].second);
}

}  // namespace gdnplan::test
