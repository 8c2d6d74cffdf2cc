// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/crowd_session.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/cuda/device_guard.h"
#include "gdnplan/cuda/gpu_info.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/cuda/timeline.h"
#include "gdnplan/plan/status.h"
#include "tests/gpu/workload.h"

namespace gdnplan::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kBusyNs = 5'000;
constexpr size_t kPinnedBytes = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<CrowdSession>> CrowdSession::Open(
    const client::Client& client, const CrowdSessionOptions& options) {
  client::SessionOptions session_options;
  if (!options.device.empty()) session_options.devices = {options.device};
  session_options.num_slots = 2;
  session_options.name = absl::StrCat("gdnplan-crowd ", options.seed);
  session_options.slot_reuse = client::SlotReuse::kConsumed;
  session_options.slot_wait = std::chrono::milliseconds(100);
  session_options.timeline = options.timeline;
  GDNPLAN_ASSIGN_OR_RETURN(client::Session session,
                           client.OpenSession(MixedConfig(), session_options));
  GDNPLAN_ASSIGN_OR_RETURN(const int ordinal, cuda::FindGpu(session.info().arenas[0].device.id));
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(ordinal));
  GDNPLAN_ASSIGN_OR_RETURN(cuda::PinnedMemory pinned, cuda::PinnedMemory::Create(kPinnedBytes));
  std::memset(pinned.data(), 0, pinned.size());
  std::unique_ptr<CrowdSession> crowd(
      new CrowdSession(std::move(session), options, std::move(pinned), ordinal));
  GDNPLAN_ASSIGN_OR_RETURN(PlanChecker checker,
                           PlanChecker::Create(crowd->session_, crowd->counts()));
  crowd->checker_ = std::make_unique<PlanChecker>(std::move(checker));
  return crowd;
}

CrowdSession::CrowdSession(client::Session session, const CrowdSessionOptions& options,
                           cuda::PinnedMemory pinned, int ordinal)
    : session_(std::move(session)),
      options_(options),
      pinned_(std::move(pinned)),
      ordinal_(ordinal) {}

absl::Status CrowdSession::UseGpu() const {
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaSetDevice(ordinal_));
  return absl::OkStatus();
}

absl::StatusOr<client::PlanView> CrowdSession::Plan(const plan::BatchView& batch) {
  const Clock::time_point start = Clock::now();
  auto plan = session_.Plan(batch, {.consumption_promised = promised_});
  times_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  return plan;
}

absl::Status CrowdSession::Step() {
  const json::OwnedBatch batch = BatchOf(session_.info().config, options_.seed, num_batches_++);
  GDNPLAN_ASSIGN_OR_RETURN(const client::PlanView plan, Plan(batch.view()));
  GDNPLAN_RETURN_IF_ERROR(checker_->Enqueue(plan, batch.view(), kBusyNs));
  promised_ = plan.timeline_value();
  return absl::OkStatus();
}

absl::StatusOr<bool> CrowdSession::StepStopped(Stop how) {
  if (how == Stop::kStuck && !stuck_) {
    GDNPLAN_RETURN_IF_ERROR(cuda::WaitValue(checker_->stream(), gate(), 1));
    stuck_ = true;
  }
  const json::OwnedBatch batch = BatchOf(session_.info().config, options_.seed, num_batches_++);
  const absl::StatusOr<client::PlanView> plan = Plan(batch.view());
  if (absl::IsResourceExhausted(plan.status()) &&
      absl::StartsWith(plan.status().message(), "slot busy")) {
    return false;
  }
  if (!plan.ok()) return plan.status();
  if (how == Stop::kStuck) {
    const cudaStream_t stream = checker_->stream().get();
    GDNPLAN_RETURN_IF_ERROR(session_.WaitReadyOn(stream, *plan));
    GDNPLAN_RETURN_IF_ERROR(session_.MarkConsumedOn(stream, *plan));
    promised_ = plan->timeline_value();
  }
  return true;
}

absl::Status CrowdSession::Finish() {
  GDNPLAN_RETURN_IF_ERROR(checker_->stream().Synchronize());
  if (counts()->wrong_plans == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(counts()->wrong_plans, " plans were wrong; ", DescribeFirst(*counts())));
}

void CrowdSession::Unstick() {
  std::atomic_ref<uint64_t>(*static_cast<uint64_t*>(gate())).store(1, std::memory_order_release);
}

}  // namespace gdnplan::test
