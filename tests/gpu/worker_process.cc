// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/worker_process.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "gdnplan/plan/status.h"
#include "tests/gpu/exchange.h"
#include "tests/gpu/exchange_pipe.h"

namespace gdnplan::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAttachTimeoutMs = 60'000;
constexpr std::chrono::seconds kFinishTimeout{30};

}  // namespace

absl::StatusOr<WorkerProcess> WorkerProcess::Start(const std::vector<std::string>& arguments,
                                                   const std::string& session_id) {
  const UniqueFd report(memfd_create("gdnplan-exchange", MFD_CLOEXEC));
  if (report.get() < 0) return ErrnoStatus("memfd_create");
  if (ftruncate(report.get(), kReportBytes) != 0) return ErrnoStatus("ftruncate");
  const void* page = mmap(nullptr, kReportBytes, PROT_READ, MAP_SHARED, report.get(), 0);
  if (page == MAP_FAILED) return ErrnoStatus("mmap");
  GDNPLAN_ASSIGN_OR_RETURN(Pipe frames, Pipe::Create());
  GDNPLAN_ASSIGN_OR_RETURN(Pipe replies, Pipe::Create());
  const int fds[] = {frames.read.get(), replies.write.get(), report.get()};
  GDNPLAN_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Spawn(arguments, fds));
  WorkerProcess worker(std::move(process), std::move(frames.write), std::move(replies.read),
                       static_cast<const CompareCounts*>(page));
  GDNPLAN_RETURN_IF_ERROR(SendFrame(worker.frames_.get(), 0, session_id));
  return worker;
}

absl::Status WorkerProcess::AwaitAttached() const {
  GDNPLAN_ASSIGN_OR_RETURN(const std::optional<Reply> reply,
                           ReceiveReply(replies_.get(), kAttachTimeoutMs));
  if (reply.has_value()) return absl::OkStatus();
  return absl::DeadlineExceededError("the worker does not attach");
}

absl::Status WorkerProcess::Send(uint64_t index, const client::PlanView& plan) {
  ++sent_;
  return SendFrame(frames_.get(), index, plan.record().Serialize());
}

absl::StatusOr<uint64_t> WorkerProcess::ReadPromises(uint64_t promised, int timeout_ms) const {
  for (;;) {
    GDNPLAN_ASSIGN_OR_RETURN(const std::optional<Reply> reply,
                             ReceiveReply(replies_.get(), timeout_ms));
    if (!reply.has_value()) return promised;
    promised = std::max(promised, reply->timeline_value);
    timeout_ms = 0;
  }
}

absl::Status WorkerProcess::Finish() {
  frames_ = UniqueFd();
  // Its replies are read on, for it must not wait for room in the pipe.
  for (const auto end = Clock::now() + kFinishTimeout; Clock::now() < end;) {
    ReadPromises(0, 10).status().IgnoreError();
    absl::Status status = process_.Wait(std::chrono::milliseconds(0));
    if (!absl::IsDeadlineExceeded(status)) return status;
  }
  return absl::DeadlineExceededError("the worker's stream does not get to its end");
}

}  // namespace gdnplan::test
