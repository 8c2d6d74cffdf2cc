// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/plan_record.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/describe.h"
#include "gdnplan/v1/plan.pb.h"
#include "wire/convert.h"

namespace gdnplan::client {
namespace {

FillKind ToFillKind(v1::FillKind kind) {
  switch (kind) {
    case v1::FILL_KIND_HOST:
      return FillKind::kHost;
    case v1::FILL_KIND_COPY:
      return FillKind::kCopy;
    case v1::FILL_KIND_KERNEL:
      return FillKind::kKernel;
    default:
      return FillKind::kUnknown;
  }
}

v1::FillKind ToProto(FillKind kind) {
  switch (kind) {
    case FillKind::kUnknown:
      return v1::FILL_KIND_UNSPECIFIED;
    case FillKind::kHost:
      return v1::FILL_KIND_HOST;
    case FillKind::kCopy:
      return v1::FILL_KIND_COPY;
    case FillKind::kKernel:
      return v1::FILL_KIND_KERNEL;
  }
  return v1::FILL_KIND_UNSPECIFIED;
}

}  // namespace

absl::StatusOr<PlanRecord> ToRecord(const v1::Plan& message) {
  // Replaying a graph on a staging that this version cannot name would read stale buffers.
  if (!v1::Staging_IsValid(message.staging())) {
    return absl::InvalidArgumentError(absl::StrCat("staging: must be 0..2 (got ",
                                                   static_cast<int>(message.staging()),
                                                   "); is the server newer than this client?"));
  }
  PlanRecord record;
  record.plan_id = message.plan_id();
  record.slot = message.slot();
  record.timeline_value = message.timeline_value();
  record.complete = message.complete();
  record.fill = ToFillKind(message.fill());
  record.server_time = std::chrono::nanoseconds(message.server_time_ns());
  record.counts = wire::FromProto(message.counts(), message.staging());
  record.tensors.reserve(static_cast<size_t>(message.tensors_size()));
  for (const v1::PlacedTensor& tensor : message.tensors()) {
    record.tensors.push_back({tensor.tensor(),
                              tensor.offset(),
                              tensor.group_stride(),
                              {tensor.shape().begin(), tensor.shape().end()}});
  }
  return record;
}

std::string PlanRecord::Serialize() const {
  v1::Plan message;
  message.set_plan_id(plan_id);
  message.set_slot(slot);
  message.set_timeline_value(timeline_value);
  message.set_complete(complete);
  message.set_fill(ToProto(fill));
  message.set_server_time_ns(static_cast<uint64_t>(server_time.count()));
  message.set_staging(wire::ToProto(counts.staging));
  wire::ToProto(counts, *message.mutable_counts());
  for (const PlacedTensor& tensor : tensors) {
    v1::PlacedTensor& placed = *message.add_tensors();
    placed.set_tensor(tensor.id);
    placed.set_offset(tensor.offset);
    placed.set_group_stride(tensor.group_stride);
    placed.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  }
  return message.SerializeAsString();
}

absl::StatusOr<PlanRecord> PlanRecord::Parse(std::string_view bytes) {
  v1::Plan message;
  const bool fits = bytes.size() <= size_t{std::numeric_limits<int>::max()};
  if (!fits || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", bytes.size(), " bytes are no plan record"));
  }
  return ToRecord(message);
}

}  // namespace gdnplan::client
