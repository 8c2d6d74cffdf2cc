// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/plan_checker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/plan/status.h"
#include "tests/gpu/spin.h"

namespace gdnplan::test {
namespace {

// Plans by which the CPU may be ahead of the GPU.
constexpr size_t kEntries = 16;

absl::Status Differs(const client::PlanView& plan, const plan::TensorSpec& spec,
                     absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("plan ", plan.id(), ": ", plan::ToAbsl(spec.name), " ", what));
}

}  // namespace

absl::StatusOr<PlanChecker> PlanChecker::Create(const client::Session& session,
                                                CompareCounts* report) {
  PlannedSlot slot(session.info().config);
  const size_t bytes = slot.slot().size() * kEntries;
  GDNPLAN_ASSIGN_OR_RETURN(cuda::PinnedMemory host, cuda::PinnedMemory::Create(bytes));
  GDNPLAN_ASSIGN_OR_RETURN(cuda::DeviceMemory device, cuda::DeviceMemory::Create(bytes));
  GDNPLAN_ASSIGN_OR_RETURN(cuda::DeviceMemory counts,
                           cuda::DeviceMemory::Create(sizeof(CompareCounts)));
  GDNPLAN_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create());
  PlanChecker checker(session, report, std::move(slot),
                      {std::move(host), std::move(device), std::move(counts)}, std::move(stream));
  GDNPLAN_RETURN_IF_ERROR(checker.AddEntries());
  return checker;
}

PlanChecker::PlanChecker(const client::Session& session, CompareCounts* report, PlannedSlot slot,
                         Memory memory, cuda::Stream stream)
    : session_(&session),
      report_(report),
      slot_(std::move(slot)),
      memory_(std::move(memory)),
      stream_(std::move(stream)) {}

absl::Status PlanChecker::AddEntries() {
  GDNPLAN_CUDA_RETURN_IF_ERROR(
      cudaMemsetAsync(memory_.counts.data(), 0, sizeof(CompareCounts), stream().get()));
  for (size_t i = 0; i < kEntries; ++i) {
    cudaEvent_t event = nullptr;
    GDNPLAN_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const size_t offset = slot_.slot().size() * i;
    entries_.push_back(
        {memory_.host.data() + offset, memory_.device.data() + offset, Event(event)});
  }
  return absl::OkStatus();
}

absl::Status PlanChecker::Upload(const Entry& entry) {
  const std::span<const std::byte> expected = slot_.slot();
  std::memcpy(entry.host, expected.data(), expected.size());
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(entry.device, entry.host, expected.size(),
                                               cudaMemcpyHostToDevice, stream().get()));
  return absl::OkStatus();
}

absl::StatusOr<CompareParams> PlanChecker::Ranges(const client::PlanView& plan,
                                                  const std::byte* expected) const {
  CompareParams params;
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    const plan::TensorExtent& extent = slot_.layout()[spec.id];
    GDNPLAN_ASSIGN_OR_RETURN(const bool present, plan.Has(spec.name));
    if (present != extent.present) {
      return Differs(plan, spec, present ? "should be absent" : "is absent");
    }
    if (!present) continue;
    const int32_t groups = spec.per_group ? session_->info().config.num_groups() : 1;
    for (int32_t group = 0; group < groups; ++group) {
      GDNPLAN_ASSIGN_OR_RETURN(const client::RawTensor raw, plan.Raw(spec.name, group));
      if (!std::equal(raw.dims.begin(), raw.dims.end(), extent.dims.begin())) {
        return Differs(plan, spec, "has another shape");
      }
      if (raw.size() == 0) continue;
      if (params.num_ranges == kMaxCompareRanges) return Differs(plan, spec, "is one too many");
      params.ranges[params.num_ranges++] = {
          .actual = static_cast<const std::byte*>(raw.data),
          .expected = expected + extent.offset + extent.group_stride * group,
          .bytes = static_cast<uint32_t>(raw.size() * plan::SizeOf(spec.dtype)),
          .tensor = static_cast<uint16_t>(spec.id),
          .group = static_cast<uint16_t>(group)};
    }
  }
  if (params.num_ranges == 0) return absl::InternalError("a plan without elements");
  return params;
}

absl::Status PlanChecker::Enqueue(const client::PlanView& plan, const plan::BatchView& batch,
                                  uint32_t busy_ns) {
  GDNPLAN_RETURN_IF_ERROR(slot_.Plan(batch));
  if (plan.counts() != slot_.counts()) {
    return absl::InternalError(absl::StrCat("plan ", plan.id(), ": counts differ"));
  }
  Entry& entry = entries_[num_plans_ % kEntries];
  if (num_plans_++ >= kEntries) {
    GDNPLAN_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(entry.done.get()));
  }
  GDNPLAN_ASSIGN_OR_RETURN(CompareParams params, Ranges(plan, entry.device));
  params.plan_id = plan.id();
  params.counts = reinterpret_cast<CompareCounts*>(memory_.counts.data());
  GDNPLAN_RETURN_IF_ERROR(Upload(entry));

  const cudaStream_t stream = stream_.view().get();
  GDNPLAN_RETURN_IF_ERROR(session_->WaitReadyOn(stream, plan));
  GDNPLAN_CUDA_RETURN_IF_ERROR(LaunchCompare(params, stream));
  if (busy_ns > 0) GDNPLAN_CUDA_RETURN_IF_ERROR(LaunchSpin(busy_ns, stream));
  params.look = 1;
  params.last_look = true;
  GDNPLAN_CUDA_RETURN_IF_ERROR(LaunchCompare(params, stream));
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(report_, params.counts, sizeof(CompareCounts),
                                               cudaMemcpyDeviceToHost, stream));
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaEventRecord(entry.done.get(), stream));
  return session_->MarkConsumedOn(stream, plan);
}

std::string DescribeFirst(const CompareCounts& counts) {
  if (counts.first_plan == 0) return {};
  const plan::TensorSpec& spec = plan::TensorTable()[counts.first_tensor % plan::kNumTensors];
  return absl::StrCat(
      "plan ", counts.first_plan, ": ", plan::ToAbsl(spec.name), " of group ", counts.first_group,
      ", byte ", counts.first_byte, ": got ", static_cast<int32_t>(counts.first_got), ", want ",
      static_cast<int32_t>(counts.first_want),
      counts.first_look == 0 ? ", as soon as it was ready" : ", just before it was consumed");
}

}  // namespace gdnplan::test
