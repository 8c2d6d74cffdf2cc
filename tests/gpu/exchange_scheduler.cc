// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "gdnplan/client/client.h"
#include "gdnplan/plan/status.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/exchange.h"
#include "tests/gpu/plan_checker.h"
#include "tests/gpu/worker_process.h"
#include "tests/gpu/workload.h"
#include "tests/testing/random_batch.h"

namespace gdnplan::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStuckTimeout{30};
// Only this process can tell the server of promises, and not while it waits for an answer.
constexpr std::chrono::milliseconds kArenaSlotWait{1};
constexpr int32_t kLongestPauseUs = 400;

bool IsSlotBusy(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && absl::StartsWith(status.message(), "slot busy");
}

class Scheduler {
 public:
  Scheduler(const ExchangeOptions& options, const std::vector<std::string>& arguments)
      : options_(options), arguments_(arguments), random_(options.seed) {}

  absl::Status Run() {
    client::SessionOptions session;
    if (!options_.device.empty()) session.devices = {options_.device};
    session.num_slots = options_.slots;
    session.name = "gdnplan-exchange";
    session.map_now = false;
    session.timeline = options_.timeline;
    if (options_.guard) session.slot_reuse = client::SlotReuse::kConsumed;
    if (promises_needed()) session.slot_wait = kArenaSlotWait;
    GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, client::Client::Connect(options_.server));
    GDNPLAN_ASSIGN_OR_RETURN(session_, client.OpenSession(config_, session));
    GDNPLAN_RETURN_IF_ERROR(StartWorker());
    const Clock::time_point start = Clock::now();
    for (uint64_t i = 0; i < options_.plans; ++i) {
      GDNPLAN_RETURN_IF_ERROR(PlanOne(i));
      ++planned_;
      if (options_.kill_every == 0 || i + 1 == options_.plans) continue;
      if (random_.Between(1, options_.kill_every) == 1) GDNPLAN_RETURN_IF_ERROR(ReplaceWorker());
    }
    elapsed_ = Clock::now() - start;
    GDNPLAN_RETURN_IF_ERROR(worker_->Finish());
    return absl::OkStatus();
  }

  // Of the last worker, whatever ended it. Returns the exit status.
  int Report() {
    uint64_t missing = options_.plans - planned_;
    if (worker_.has_value()) {
      worker_->Kill();
      const CompareCounts counts = Collect();
      missing += worker_->sent() - std::min<uint64_t>(worker_->sent(), counts.plans);
    }
    const double us = std::chrono::duration<double, std::micro>(elapsed_).count();
    std::printf("compared %ju, lost with killed workers %ju, missing %ju, %.0f us a plan\n",
                uintmax_t{compared_}, uintmax_t{lost_}, uintmax_t{missing},
                planned_ > 0 ? us / static_cast<double>(planned_) : 0.0);
    std::printf("plans %ju, wrong %ju, restarts %ju, slot_busy %ju\n", uintmax_t{planned_},
                uintmax_t{wrong_}, uintmax_t{restarts_}, uintmax_t{slot_busy_});
    return wrong_ == 0 && missing == 0 ? 0 : 1;
  }

 private:
  bool promises_needed() const {
    return options_.guard && options_.timeline == client::TimelinePlace::kArena;
  }

  absl::Status StartWorker() {
    GDNPLAN_ASSIGN_OR_RETURN(worker_, WorkerProcess::Start(arguments_, session_->id()));
    return worker_->AwaitAttached();
  }

  // At a random moment of the worker's work on the last plans.
  absl::Status ReplaceWorker() {
    std::this_thread::sleep_for(std::chrono::microseconds(random_.Between(0, kLongestPauseUs)));
    worker_->Kill();
    ++restarts_;
    const CompareCounts counts = Collect();
    lost_ += worker_->sent() - counts.plans;
    return StartWorker();
  }

  CompareCounts Collect() {
    const CompareCounts counts = worker_->counts();
    compared_ += counts.plans;
    wrong_ += counts.wrong_plans;
    if (counts.first_plan != 0) {
      std::fprintf(stderr, "gdnplan-exchange: %s; %llu wrong words in all\n",
                   DescribeFirst(counts).c_str(), counts.wrong_words);
    }
    return counts;
  }

  absl::Status PlanOne(uint64_t index) {
    const json::OwnedBatch batch = BatchOf(config_, options_.seed, index);
    if (options_.pause && random_.Chance(20)) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_.Between(0, kLongestPauseUs)));
    }
    const Clock::time_point start = Clock::now();
    int wait_ms = 0;
    for (;;) {
      GDNPLAN_ASSIGN_OR_RETURN(promised_, worker_->ReadPromises(promised_, wait_ms));
      const auto plan =
          session_->Plan(batch.view(), {.consumption_promised = promises_needed() ? promised_ : 0});
      if (plan.ok()) return worker_->Send(index, *plan);
      if (!IsSlotBusy(plan.status())) return plan.status();
      ++slot_busy_;
      wait_ms = 1;
      if (Clock::now() - start > kStuckTimeout) return plan.status();
    }
  }

  const ExchangeOptions& options_;
  const std::vector<std::string>& arguments_;
  const plan::PlanConfig config_ = MixedConfig();
  Random random_;
  std::optional<client::Session> session_;
  std::optional<WorkerProcess> worker_;
  uint64_t promised_ = 0;
  uint64_t planned_ = 0;
  uint64_t compared_ = 0;
  uint64_t wrong_ = 0;
  uint64_t lost_ = 0;
  uint64_t restarts_ = 0;
  uint64_t slot_busy_ = 0;
  Clock::duration elapsed_{0};
};

}  // namespace

int RunScheduler(const ExchangeOptions& options, const std::vector<std::string>& arguments) {
  // A worker that ended shows as an error of the pipe.
  signal(SIGPIPE, SIG_IGN);
  Scheduler scheduler(options, arguments);
  const absl::Status status = scheduler.Run();
  if (!status.ok()) {
    std::fprintf(stderr, "gdnplan-exchange: scheduler: %s\n", status.ToString().c_str());
  }
  const int result = scheduler.Report();
  return status.ok() ? result : 1;
}

}  // namespace gdnplan::test
