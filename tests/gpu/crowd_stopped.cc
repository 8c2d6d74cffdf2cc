// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The stopped workers have a process of their own, so that only the server can carry their
// stopping over to others.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "tests/gpu/crowd.h"

namespace gdnplan::test {
namespace {

constexpr int kPlansBefore = 50;
constexpr std::chrono::milliseconds kRetryInterval{5};

// False: the other process has closed.
bool AwaitCommand() {
  char byte = 0;
  return read(kCommandFd, &byte, 1) == 1;
}
absl::Status SayDone() {
  const char byte = 0;
  return write(kDoneFd, &byte, 1) == 1 ? absl::OkStatus() : ErrnoStatus("write");
}

// Plans on until `end`. `refused`: answers "slot busy".
absl::Status PlanOn(CrowdSession& session, Stop how, const std::atomic<bool>& end,
                    std::atomic<int>& refused) {
  GDNPLAN_RETURN_IF_ERROR(session.UseGpu());
  while (!end) {
    GDNPLAN_ASSIGN_OR_RETURN(const bool planned, session.StepStopped(how));
    if (planned) continue;
    ++refused;
    std::this_thread::sleep_for(kRetryInterval);
  }
  return absl::OkStatus();
}

struct Planning {
  std::atomic<int> refused = 0;
  absl::Status status;
  std::atomic<bool> failed = false;
  std::thread thread;
};

absl::Status CloseAll(std::vector<std::unique_ptr<CrowdSession>>& sessions) {
  const auto start = std::chrono::steady_clock::now();
  for (const auto& session : sessions) GDNPLAN_RETURN_IF_ERROR(session->Close());
  const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
  std::printf("stopped: all closed in %.1f ms\n", ms.count());
  for (const auto& session : sessions) session->Unstick();
  for (const auto& session : sessions) GDNPLAN_RETURN_IF_ERROR(session->Finish());
  return absl::OkStatus();
}

absl::Status Run(const CrowdOptions& options) {
  GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, client::Client::Connect(options.server));
  GDNPLAN_ASSIGN_OR_RETURN(auto sessions,
                           OpenSessions(client, options, options.stopped, /*first=*/1'000));
  for (const auto& session : sessions) {
    GDNPLAN_RETURN_IF_ERROR(session->UseGpu());
    for (int i = 0; i < kPlansBefore; ++i) GDNPLAN_RETURN_IF_ERROR(session->Step());
  }
  std::printf("stopped: before, %s\n", DescribeTimes(sessions).c_str());
  GDNPLAN_RETURN_IF_ERROR(SayDone());
  if (!AwaitCommand()) return absl::AbortedError("the other process ended");

  std::atomic<bool> end = false;
  std::vector<Planning> plannings(sessions.size());
  for (size_t i = 0; i < sessions.size(); ++i) {
    plannings[i].thread = std::thread([&, i] {
      plannings[i].status = PlanOn(*sessions[i], options.how, end, plannings[i].refused);
      plannings[i].failed = !plannings[i].status.ok();
    });
  }
  const auto stopped = [](const Planning& planning) {
    return planning.refused > 0 || planning.failed;
  };
  while (!std::all_of(plannings.begin(), plannings.end(), stopped)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  absl::Status status = SayDone();
  AwaitCommand();
  end = true;
  int refused = 0;
  for (Planning& planning : plannings) {
    planning.thread.join();
    refused += planning.refused;
    status.Update(planning.status);
  }
  std::printf("stopped: %zu sessions, then refused %d times, %s\n", sessions.size(), refused,
              DescribeTimes(sessions).c_str());
  status.Update(CloseAll(sessions));
  return status;
}

}  // namespace

int RunStopped(const CrowdOptions& options) {
  DieWithParent(options.stopped_of);
  const absl::Status status = Run(options);
  std::fflush(stdout);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gdnplan-crowd: stopped sessions: %s\n", status.ToString().c_str());
  // Streams that wait would hold up an orderly end.
  _exit(1);
}

}  // namespace gdnplan::test
