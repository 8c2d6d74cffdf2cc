// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The hot path: one stream for all steps of a session.
//
//   auto stream = session.OpenStream();
//   auto plan = stream->Plan(batch);             // one step after the other
//
//   stream->Submit(next_batch);                  // or many in flight
//   auto next = stream->Next();
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/plan_view.h"
#include "gdnplan/plan/batch.h"

namespace gdnplan::client {

class PlanStreamState;

struct StreamOptions {
  // Whether a thread that waits for an answer asks again and again, which keeps a core busy and
  // takes 10 to 20 us off each answer, instead of sleeping.
  bool poll = false;
  // Plans submitted and not taken with Next, at most; within the server's
  // Limits.max_plans_in_flight.
  int max_in_flight = 16;
};

struct PlanOptions {
  // Whether the answer waits until the bytes are there. Otherwise it comes as soon as they are on
  // their way, and readers WaitReady.
  bool wait_complete = false;
  // Absent: ClientOptions::call_deadline. On a stream it counts for Submit; Next has its own.
  std::optional<std::chrono::milliseconds> deadline = {};
  // The timeline value up to which every consumer has called MarkConsumedOn. Needed only where a
  // guarded session's timeline is in a GPU's arena, which CPUs do not see. 0: nothing new.
  uint64_t consumption_promised = 0;
};

// Made by Session::OpenStream; keeps what it needs of the session, and may outlive the Session
// object. One thread may Submit while another takes answers with Next; otherwise one at a time. A
// stream that broke stays so: open another one.
class PlanStream {
 public:
  // Cancels what is in flight; its plans may or may not be made.
  ~PlanStream();
  PlanStream(PlanStream&&) noexcept;
  PlanStream& operator=(PlanStream&&) noexcept;

  // Submit and Next in one: FailedPrecondition while other plans are in flight. Errors are those of
  // Session::Plan. A refused batch leaves the stream alive; DeadlineExceeded cancels it.
  absl::StatusOr<PlanView> Plan(const plan::BatchView& batch, const PlanOptions& options = {});

  // Sends a request. The batch is copied. ResourceExhausted when max_in_flight plans are: take
  // answers with Next first. Other errors: the stream is broken; where it is and nobody knows yet,
  // Next says so.
  absl::Status Submit(const plan::BatchView& batch, const PlanOptions& options = {});
  // The answer to the oldest request that has none, in the order of the Submits. Its errors are
  // that request's alone while broken() is OK. FailedPrecondition when nothing is in flight.
  // DeadlineExceeded while in_flight() stays: not yet; ask again.
  absl::StatusOr<PlanView> Next(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

  // Requests without an answer.
  int in_flight() const;
  // What the stream ended with; OK while it lives.
  absl::Status broken() const;
  // Ends the stream from any thread; whoever waits in Next gets Cancelled.
  void Cancel();

 private:
  friend class AsyncPlanStream;
  friend class Session;
  explicit PlanStream(std::unique_ptr<PlanStreamState> state);

  std::unique_ptr<PlanStreamState> state_;
};

}  // namespace gdnplan::client
