// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A scheduler of a fault run. By its number it asks for plans one by one or over a stream, and its
// worker hands slots back or does not.
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/client/lasting_session.h"
#include "gdnplan/plan/status.h"
#include "tests/faults/board.h"
#include "tests/faults/options.h"
#include "tests/faults/steps.h"

namespace gdnplan::test {
namespace {

using client::Client;
using client::LastingSession;
using client::PlanStream;
using client::PlanView;

class Owner {
 public:
  Owner(const FaultOptions& options, Board& board)
      : options_(options),
        board_(board),
        mine_(board.owners[static_cast<size_t>(options.number)]),
        config_(ConfigOf(options)),
        expected_(config_) {}

  // Until it cannot go on.
  absl::Status Run() {
    GDNPLAN_ASSIGN_OR_RETURN(const Client client,
                             Client::Connect(options_.address(), {.connect_timeout = kDeadline,
                                                                  .call_deadline = kDeadline}));
    for (;;) {
      GDNPLAN_ASSIGN_OR_RETURN(LastingSession session, Open(client));
      Announce(session.session());
      GDNPLAN_RETURN_IF_ERROR(PlanOften(session));
      // By a call, or by the destructor.
      if (random_.Chance(50)) session.session().Close().IgnoreError();
    }
  }

 private:
  absl::StatusOr<LastingSession> Open(const Client& client) {
    return LastingSession::Open(
        client, config_,
        {.session = {.num_slots = kSlots,
                     .name = absl::StrCat("owner ", options_.number),
                     .slot_reuse = IsGuarded(options_) ? client::SlotReuse::kConsumed
                                                       : client::SlotReuse::kUnguarded,
                     .slot_wait = kPause},
         .on_reopened = [this](const client::Session& reopened) { Announce(reopened); }});
  }

  void Announce(const client::Session& session) {
    ++board_.sessions;
    PublishSession(options_.directory, options_.number, session.id());
  }

  absl::Status PlanOften(LastingSession& session) {
    const int32_t steps = options_.soak ? random_.Between(5, 50) : random_.Between(20, 1000);
    for (int32_t i = 0; i < steps; ++i) {
      const uint64_t step = ++mine_.step;
      const json::OwnedBatch batch = BatchOf(config_, options_, step);
      const absl::StatusOr<PlanView> plan = Ask(session, batch.view());
      if (plan.ok()) {
        GDNPLAN_RETURN_IF_ERROR(Check(session.session(), *plan, step, batch.view()));
        continue;
      }
      ++board_.errors;
      // A worker that is gone consumes nothing; the next one to attach lets its slots go.
      if (absl::IsResourceExhausted(plan.status())) continue;
      stream_.reset();
      GDNPLAN_RETURN_IF_ERROR(session.Reopen());
    }
    stream_.reset();
    return absl::OkStatus();
  }

  absl::StatusOr<PlanView> Ask(LastingSession& session, const plan::BatchView& batch) {
    const client::PlanOptions how{.wait_complete = true};
    if (options_.number % 2 == 0) return session.Plan(batch, how);
    if (!stream_.has_value()) {
      GDNPLAN_ASSIGN_OR_RETURN(stream_, session.session().OpenStream());
    }
    return stream_->Plan(batch, how);
  }

  absl::Status Check(const client::Session& session, const PlanView& plan, uint64_t step,
                     const plan::BatchView& batch) {
    GDNPLAN_ASSIGN_OR_RETURN(const std::vector<std::string> mismatches,
                             Compare(expected_, batch, plan));
    ++board_.checked_by_owners;
    if (!mismatches.empty()) {
      NoteWrong(options_.directory, board_,
                absl::StrCat("owner ", options_.number, ", step ", step, ", plan ", plan.id(), ": ",
                             absl::StrJoin(mismatches, "; ")));
    }
    // The id last, and none meanwhile: whoever reads it has the rest.
    Board::Answered& entry = mine_.answered[plan.id() % Board::kKept];
    entry.plan_id = 0;
    entry.session = KeyOf(session.id());
    entry.step = step;
    entry.plan_id = plan.id();
    return absl::OkStatus();
  }

  const FaultOptions& options_;
  Board& board_;
  Board::Owner& mine_;
  const plan::PlanConfig config_;
  load::ExpectedPlan expected_;
  Random random_{options_.seed + mine_.step};
  std::optional<PlanStream> stream_;
};

}  // namespace

int RunOwner(const FaultOptions& options) {
  const absl::StatusOr<Board*> board = MapBoard(options.directory);
  if (!board.ok()) return 1;
  for (;;) {
    Owner owner(options, **board);
    owner.Run().IgnoreError();
    ++(*board)->errors;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace gdnplan::test
