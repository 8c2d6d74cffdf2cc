// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/expected_plan.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::load {
namespace {

template <typename T>
std::string FirstDifference(const std::vector<T>& got, const std::byte* want) {
  // An empty tensor has no address that memcmp may have.
  if (got.empty() || std::memcmp(got.data(), want, got.size() * sizeof(T)) == 0) return {};
  for (size_t i = 0; i < got.size(); ++i) {
    T expected;
    std::memcpy(&expected, want + i * sizeof(T), sizeof(T));
    if (got[i] == expected) continue;
    return absl::StrCat("element ", i, " is ", int64_t{got[i]}, ", must be ", int64_t{expected});
  }
  return {};
}

}  // namespace

ExpectedPlan::ExpectedPlan(const plan::PlanConfig& config)
    : planner_(config),
      memory_(static_cast<size_t>(planner_.slot_layout().slot_bytes / plan::kTensorAlignment) + 1) {
  plan::InitializeSlot(planner_.slot_layout(), memory_.front().bytes);
}

absl::StatusOr<std::vector<std::string>> ExpectedPlan::Compare(const plan::BatchView& batch,
                                                               const client::PlanView& plan) {
  GDNPLAN_RETURN_IF_ERROR(planner_.Plan(batch));
  plan::FillSlot(planner_.input(), planner_.layout(), memory_.front().bytes, reach_);
  std::vector<std::string> mismatches;
  if (!(plan.counts() == planner_.input().counts)) mismatches.emplace_back("counts differ");
  const int32_t groups = planner_.config().num_groups();
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    for (int32_t group = 0; group < (spec.per_group ? groups : 1); ++group) {
      GDNPLAN_ASSIGN_OR_RETURN(const std::string difference, CompareTensor(spec.id, group, plan));
      if (difference.empty()) continue;
      mismatches.push_back(
          absl::StrCat(plan::ToAbsl(spec.name), " of group ", group, ": ", difference));
    }
  }
  return mismatches;
}

absl::StatusOr<std::string> ExpectedPlan::CompareTensor(plan::TensorId id, int32_t group,
                                                        const client::PlanView& plan) const {
  const plan::TensorSpec& spec = plan::Spec(id);
  const plan::TensorExtent& extent = planner_.layout()[id];
  GDNPLAN_ASSIGN_OR_RETURN(const bool has, plan.Has(spec.name));
  if (has != extent.present) return std::string(has ? "must be absent" : "is absent");
  if (!has) return std::string();
  GDNPLAN_ASSIGN_OR_RETURN(const client::RawTensor raw, plan.Raw(spec.name, group));
  for (int d = 0; d < spec.rank; ++d) {
    const auto i = static_cast<size_t>(d);
    if (raw.dims[i] == extent.dims[i]) continue;
    return absl::StrCat("dimension ", d, " is ", raw.dims[i], ", must be ", extent.dims[i]);
  }
  const std::byte* want = slot() + extent.offset + extent.group_stride * group;
  if (spec.dtype == plan::DType::kInt32) {
    GDNPLAN_ASSIGN_OR_RETURN(const auto got, plan.Copy<int32_t>(spec.name, group));
    return FirstDifference(got, want);
  }
  GDNPLAN_ASSIGN_OR_RETURN(const auto got, plan.Copy<uint8_t>(spec.name, group));
  return FirstDifference(got, want);
}

uint64_t ExpectedPlan::Bytes(const client::PlanView& plan, int32_t num_groups) {
  uint64_t bytes = 0;
  for (const client::PlacedTensor& tensor : plan.record().tensors) {
    const plan::TensorSpec& spec = plan::Spec(static_cast<plan::TensorId>(tensor.id));
    uint64_t elements = 1;
    for (const uint32_t dim : tensor.shape) elements *= dim;
    bytes += elements * static_cast<uint64_t>(plan::SizeOf(spec.dtype)) *
             (spec.per_group ? static_cast<uint64_t>(num_groups) : 1);
  }
  return bytes;
}

}  // namespace gdnplan::load
