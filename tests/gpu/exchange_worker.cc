// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "gdnplan/client/client.h"
#include "gdnplan/cuda/gpu_info.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/plan/status.h"
#include "tests/gpu/exchange.h"
#include "tests/gpu/exchange_pipe.h"
#include "tests/gpu/plan_checker.h"
#include "tests/gpu/workload.h"
#include "tests/testing/random_batch.h"

namespace gdnplan::test {
namespace {

constexpr int32_t kLongestBusyNs = 150'000;
constexpr int32_t kLongestLookUs = 300;

// The page outlives this process, whose end may come at any time.
absl::StatusOr<CompareCounts*> MapReport() {
  void* page =
      mmap(nullptr, kReportBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kReportFd, /*offset=*/0);
  if (page == MAP_FAILED) return ErrnoStatus("mmap");
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaHostRegister(page, kReportBytes, cudaHostRegisterDefault));
  return static_cast<CompareCounts*>(page);
}

absl::StatusOr<client::Session> Attach(const ExchangeOptions& options) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::optional<Frame> hello, ReceiveFrame(kFramesFd));
  if (!hello.has_value()) return absl::AbortedError("the scheduler ended");
  GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, client::Client::Connect(options.server));
  return client.AttachSession(hello->payload, {.consumer = true});
}

absl::Status Consume(const ExchangeOptions& options, const client::Session& session,
                     PlanChecker& checker) {
  const plan::PlanConfig config = MixedConfig();
  // A worker that comes after another pauses differently.
  Random random(options.seed + static_cast<uint64_t>(getpid()));
  for (;;) {
    GDNPLAN_ASSIGN_OR_RETURN(const std::optional<Frame> frame, ReceiveFrame(kFramesFd));
    if (!frame.has_value()) return checker.stream().Synchronize();
    GDNPLAN_ASSIGN_OR_RETURN(client::PlanRecord record, client::PlanRecord::Parse(frame->payload));
    GDNPLAN_ASSIGN_OR_RETURN(const client::PlanView plan, session.View(std::move(record)));
    const json::OwnedBatch batch = BatchOf(config, options.seed, frame->index);
    int32_t busy_ns = 0;
    if (options.pause) {
      busy_ns = random.Chance(70) ? random.Between(0, kLongestBusyNs) : 0;
      if (random.Chance(20)) {
        std::this_thread::sleep_for(std::chrono::microseconds(random.Between(0, kLongestLookUs)));
      }
    }
    GDNPLAN_RETURN_IF_ERROR(checker.Enqueue(plan, batch.view(), static_cast<uint32_t>(busy_ns)));
    GDNPLAN_RETURN_IF_ERROR(
        SendReply(kRepliesFd, {.kind = Reply::kPromised, .timeline_value = plan.timeline_value()}));
  }
}

absl::Status Run(const ExchangeOptions& options) {
  GDNPLAN_ASSIGN_OR_RETURN(const client::Session session, Attach(options));
  GDNPLAN_ASSIGN_OR_RETURN(const int ordinal, cuda::FindGpu(session.info().arenas[0].device.id));
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaSetDevice(ordinal));
  GDNPLAN_ASSIGN_OR_RETURN(CompareCounts * report, MapReport());
  GDNPLAN_ASSIGN_OR_RETURN(PlanChecker checker, PlanChecker::Create(session, report));
  GDNPLAN_RETURN_IF_ERROR(SendReply(kRepliesFd, {.kind = Reply::kAttached, .timeline_value = 0}));
  return Consume(options, session, checker);
}

}  // namespace

int RunWorker(const ExchangeOptions& options) {
  DieWithParent(options.worker_of);
  const absl::Status status = Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gdnplan-exchange: worker: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace gdnplan::test
