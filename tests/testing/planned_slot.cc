// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/planned_slot.h"

#include <algorithm>
#include <cstring>

#include "gdnplan/plan/status.h"

namespace gdnplan::test {

std::span<const std::byte> TensorBytes(const plan::PlanLayout& layout,
                                       std::span<const std::byte> slot, plan::TensorId id,
                                       int32_t group) {
  const plan::TensorSpec& spec = plan::Spec(id);
  const plan::TensorExtent& extent = layout[id];
  const int64_t offset = extent.offset + group * extent.group_stride;
  const int64_t bytes = plan::NumElements(spec, extent) * plan::SizeOf(spec.dtype);
  return slot.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
}

std::optional<json::TensorData> ReadTensor(const plan::PlanLayout& layout,
                                           std::span<const std::byte> slot, plan::TensorId id,
                                           int32_t group) {
  const plan::TensorSpec& spec = plan::Spec(id);
  const plan::TensorExtent& extent = layout[id];
  if (!extent.present) return std::nullopt;
  json::TensorData tensor;
  tensor.dims.assign(extent.dims.begin(), extent.dims.begin() + spec.rank);
  const std::span<const std::byte> bytes = TensorBytes(layout, slot, id, group);
  if (spec.dtype == plan::DType::kInt32) {
    tensor.data.resize(bytes.size() / sizeof(int32_t));
    if (!bytes.empty()) std::memcpy(tensor.data.data(), bytes.data(), bytes.size());
  } else {
    for (std::byte byte : bytes) tensor.data.push_back(std::to_integer<int32_t>(byte));
  }
  return tensor;
}

PlannedSlot::PlannedSlot(const plan::PlanConfig& config)
    : planner_(config),
      memory_(static_cast<size_t>(planner_.slot_layout().slot_bytes / plan::kTensorAlignment)) {
  plan::InitializeSlot(planner_.slot_layout(), data());
}

absl::Status PlannedSlot::Plan(const plan::BatchView& batch, std::byte poison) {
  GDNPLAN_RETURN_IF_ERROR(planner_.Plan(batch));
  Fill(poison);
  return absl::OkStatus();
}

void PlannedSlot::Fill(std::byte poison) {
  std::fill_n(data(), planner_.slot_layout().packed_capacity, poison);
  plan::FillSlot(planner_.input(), planner_.layout(), data(), reach_);
}

absl::Status PlannedSlot::Regather(int32_t group, const plan::BlockTableView& table) {
  GDNPLAN_RETURN_IF_ERROR(planner_.Regather(group, table));
  plan::FillGroupStates(planner_.input(), planner_.layout(), group, data());
  return absl::OkStatus();
}

std::span<const std::byte> PlannedSlot::slot() const {
  return std::as_bytes(std::span<const Block>(memory_));
}

std::optional<json::TensorData> PlannedSlot::Read(plan::TensorId id, int32_t group) const {
  return ReadTensor(planner_.layout(), slot(), id, group);
}

json::TensorReader PlannedSlot::reader() const {
  return [this](plan::TensorId id, int32_t group) { return Read(id, group); };
}

}  // namespace gdnplan::test
