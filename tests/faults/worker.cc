// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// An engine's worker of a fault run.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/client/client.h"
#include "gdnplan/plan/status.h"
#include "tests/faults/board.h"
#include "tests/faults/options.h"
#include "tests/faults/steps.h"

namespace gdnplan::test {
namespace {

using client::Client;
using client::PlanView;
using client::Session;

// Until the owner has had the answer to a plan that was announced. It may be dead.
constexpr std::chrono::milliseconds kAnswer{200};

class Worker {
 public:
  Worker(const FaultOptions& options, Board& board)
      : options_(options),
        board_(board),
        owner_(board.owners[static_cast<size_t>(options.number)]),
        config_(ConfigOf(options)),
        expected_(config_) {}

  // Until a session ends, or the connection.
  absl::Status Run() {
    GDNPLAN_ASSIGN_OR_RETURN(const Client client,
                             Client::Connect(options_.address(), {.connect_timeout = kDeadline,
                                                                  .call_deadline = kDeadline}));
    for (;;) {
      const std::string id = PublishedSession(options_.directory, options_.number);
      GDNPLAN_ASSIGN_OR_RETURN(
          const Session session,
          client.AttachSession(id, {.map_now = true, .consumer = IsGuarded(options_)}));
      ++board_.attachments;
      GDNPLAN_RETURN_IF_ERROR(FollowUntilItEnds(session));
    }
  }

 private:
  absl::Status FollowUntilItEnds(const Session& session) {
    GDNPLAN_ASSIGN_OR_RETURN(client::PlanFollower follower, session.Follow());
    for (;;) {
      const absl::StatusOr<PlanView> plan = follower.Next(kDeadline);
      if (absl::IsDeadlineExceeded(plan.status())) continue;
      GDNPLAN_RETURN_IF_ERROR(plan.status());
      GDNPLAN_RETURN_IF_ERROR(Check(session, *plan));
      if (IsGuarded(options_)) GDNPLAN_RETURN_IF_ERROR(session.MarkConsumed(*plan));
    }
  }

  // Compares a plan whose slot is as the plan left it, and leaves out the others.
  absl::Status Check(const Session& session, const PlanView& plan) {
    const Board::Answered& entry = owner_.answered[plan.id() % Board::kKept];
    const auto end = std::chrono::steady_clock::now() + kAnswer;
    while (entry.plan_id != plan.id()) {
      if (std::chrono::steady_clock::now() > end) return absl::OkStatus();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    const uint64_t step = entry.step;
    if (entry.session != KeyOf(session.id())) return absl::OkStatus();
    const json::OwnedBatch batch = BatchOf(config_, options_, step);
    GDNPLAN_ASSIGN_OR_RETURN(const std::vector<std::string> mismatches,
                             Compare(expected_, batch.view(), plan));
    // The entry once more: its owner may have begun another session meanwhile. And it must not have
    // asked for the step that writes this slot.
    if (entry.plan_id != plan.id() || entry.step != step || owner_.step >= step + kSlots) {
      return absl::OkStatus();
    }
    ++board_.checked_by_workers;
    if (!mismatches.empty()) {
      NoteWrong(options_.directory, board_,
                absl::StrCat("worker ", options_.number, ", step ", step, ", plan ", plan.id(),
                             ": ", absl::StrJoin(mismatches, "; ")));
    }
    return absl::OkStatus();
  }

  const FaultOptions& options_;
  Board& board_;
  const Board::Owner& owner_;
  const plan::PlanConfig config_;
  load::ExpectedPlan expected_;
};

}  // namespace

int RunWorker(const FaultOptions& options) {
  const absl::StatusOr<Board*> board = MapBoard(options.directory);
  if (!board.ok()) return 1;
  for (;;) {
    Worker worker(options, **board);
    worker.Run().IgnoreError();
    ++(*board)->errors;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace gdnplan::test
