// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/plan_view.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/session_state.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace internal {

void Abort(const char* message) {
  std::fprintf(stderr, "gdnplan: %s\n", message);
  std::abort();
}

}  // namespace internal

namespace {

const char* Words(plan::DType dtype) {
  return dtype == plan::DType::kInt32 ? "int32_t" : "uint8_t";
}

}  // namespace

PlanView::PlanView(std::shared_ptr<SessionState> state, PlanRecord record, size_t device)
    : state_(std::move(state)), record_(std::move(record)), device_(device) {}

absl::StatusOr<const TensorInfo*> PlanView::Find(std::string_view name) const {
  const std::vector<TensorInfo>& tensors = state_->info().tensors;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  const auto append_name = [](std::string* out, const TensorInfo& tensor) {
    out->append(tensor.name);
  };
  return absl::InvalidArgumentError(absl::StrCat("no tensor is named \"", plan::ToAbsl(name),
                                                 "\"; there are ",
                                                 absl::StrJoin(tensors, ", ", append_name)));
}

const PlacedTensor* PlanView::Placed(uint32_t id) const {
  for (const PlacedTensor& tensor : record_.tensors) {
    if (tensor.id == id) return &tensor;
  }
  return nullptr;
}

absl::StatusOr<RawTensor> PlanView::Raw(std::string_view name, int32_t group) const {
  GDNPLAN_ASSIGN_OR_RETURN(const TensorInfo* info, Find(name));
  const int32_t groups = state_->info().config.num_groups();
  if (group < 0 || group >= groups) {
    return absl::InvalidArgumentError(
        absl::StrCat("group: must be in 0..", groups - 1, " (got ", group, ")"));
  }
  const PlacedTensor* placed = Placed(info->id);
  if (placed == nullptr) {
    return absl::NotFoundError(absl::StrCat(info->name, " is absent in plan ", record_.plan_id));
  }
  GDNPLAN_ASSIGN_OR_RETURN(const auto arena, state_->Arena(device_));
  RawTensor raw;
  raw.device = arena->device();
  raw.ordinal = arena->ordinal();
  raw.dtype = info->dtype;
  raw.rank = info->rank;
  for (size_t i = 0; i < placed->shape.size(); ++i) raw.dims[i] = placed->shape[i];
  raw.offset =
      placed->offset + (info->per_group ? static_cast<uint64_t>(group) * placed->group_stride : 0);
  raw.data = arena->data() + raw.offset;
  return raw;
}

absl::StatusOr<RawTensor> PlanView::TypedTensor(std::string_view name, int32_t group,
                                                plan::DType dtype) const {
  GDNPLAN_ASSIGN_OR_RETURN(const TensorInfo* info, Find(name));
  if (info->dtype != dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat(info->name, " holds ", Words(info->dtype), ", asked for as ", Words(dtype)));
  }
  return Raw(name, group);
}

absl::Status PlanView::CopyBytes(const RawTensor& tensor, std::span<std::byte> bytes) const {
  GDNPLAN_ASSIGN_OR_RETURN(const auto arena, state_->Arena(device_));
  return arena->CopyToHost(tensor.offset, bytes);
}

absl::StatusOr<bool> PlanView::Has(std::string_view name) const {
  GDNPLAN_ASSIGN_OR_RETURN(const TensorInfo* info, Find(name));
  return Placed(info->id) != nullptr;
}

std::vector<std::string> PlanView::Absent() const {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : state_->info().tensors) {
    if (Placed(tensor.id) == nullptr) names.push_back(tensor.name);
  }
  return names;
}

absl::StatusOr<PlanView> PlanView::OnDevice(size_t device) const {
  const size_t devices = state_->info().arenas.size();
  if (device >= devices) {
    return absl::InvalidArgumentError(
        absl::StrCat("device: must be below ", devices, " (got ", device, ")"));
  }
  PlanView view = *this;
  view.device_ = device;
  return view;
}

}  // namespace gdnplan::client
