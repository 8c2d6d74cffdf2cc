// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One session under load.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/load/expected_plan.h"
#include "client/load/options.h"
#include "client/load/recorder.h"
#include "client/load/start_budget.h"
#include "client/load/starts.h"
#include "client/load/step_source.h"
#include "gdnplan/client/client.h"

namespace gdnplan::load {

// Opens a session, sends it its workload's steps in windows of time, and records what comes of
// them. Of each start that is due within a window exactly one thing is recorded: a plan, an error,
// or that it was skipped.
class Lane {
 public:
  using Clock = Starts::Clock;

  // `in_flight`: requests under way at most; with unary calls 1. Options outlive it. Errors as of
  // Client::OpenSession; ResourceExhausted also where there is no thread for it.
  static absl::StatusOr<std::unique_ptr<Lane>> Open(const LoadOptions& options, int number,
                                                    const client::Client& client, int in_flight);
  ~Lane();

  // Of all lanes of a load.
  struct Window {
    Clock::time_point begin;
    Clock::time_point end;  // nothing is due from here on
    std::shared_ptr<StartBudget> budget;
  };
  // Begins to send. The window before must have come to rest.
  void Begin(Window window);
  // Ends the window earlier.
  void EndAt(Clock::time_point end);

  // The session is not served any more, or never was.
  struct Trouble {
    Clock::time_point since;  // the start of the first call without an answer
    std::string call;         // the last that failed
    absl::Status reason;      // its error
  };
  struct State {
    // Nothing is under way and nothing more will start in this window; and that not for its time.
    bool at_rest = false;
    bool finished = false;  // the budget is spent, or the workload over
    bool over = false;      // the workload
    uint64_t plans = 0;     // of this window
    Clock::time_point last_plan;
    Clock::time_point last_taken;  // plan or error
    // What is wrong: it is lost now, or all requests of this window were refused.
    bool lost = false;
    std::optional<Trouble> trouble;
  };
  State state() const;

  // Asks whether the session is still there, if nothing else does: between starts that are far
  // apart a server may go unnoticed. Whether it is not known to be lost.
  bool Look();

  // Nothing is sent any more. Does not wait.
  void BeginStop();
  // Waits for the answers to what is under way, and closes the session. One that cannot be closed
  // is lost.
  void Stop();

  Recorder& recorder() { return recorder_; }
  const client::SessionInfo& info() const { return session_.info(); }

 private:
  // A request under way.
  struct Request {
    Step step;
    Clock::time_point intended;
    Clock::time_point start;
    bool verify = false;
  };

  Lane(const LoadOptions& options, int number, client::Session session,
       std::unique_ptr<StepSource> source, int in_flight);

  // The threads. ResourceExhausted: there is one too few.
  absl::Status Start();
  absl::Status Run(void (Lane::*work)());
  // Closed loops and unary calls: one thread sends and takes. It is the quickest way, and what
  // schedulers do.
  void RunAlone();
  // Open loops over a stream: an answer that is late must not make the next request late.
  void RunSender();
  void RunTaker();

  // The sender's. Waits for a window; false: there will be none.
  bool AwaitWindow();
  // Waits until one more request may be under way. False: the window is past.
  bool AwaitRoom();
  // Waits until it is due and sends the next request. False: none is, in this window.
  bool SendNext();
  // False: the workload is over.
  bool Prepare();
  bool AwaitStart(std::optional<Clock::time_point> intended);
  void Finish(bool workload_over);
  // Counts what was due and not sent.
  void EndWindow();
  uint64_t SkipSteps(Clock::time_point end);

  // Takes the answer to the oldest request under way.
  void TakeNext();
  absl::StatusOr<client::PlanView> NextAnswer(const Request& request);
  void Taken(uint64_t requests);
  // After the stream broke: what was under way on it is lost, and counted; then another one, if the
  // window still wants it.
  void Reopen();
  // Not at once again: whatever failed may last.
  void Pause();
  void AddError(const absl::Status& error, Clock::time_point start, bool lost);
  // Needs mutex_.
  void Lose(const char* call, const absl::Status& reason, Clock::time_point since);
  // That requests are sent with.
  const char* call() const;
  // With what the comparison says, where one was asked for. An error of it is the request's.
  absl::Status Record(const Request& request, const client::PlanView& plan,
                      Clock::time_point answered);
  absl::StatusOr<client::PlanStream> OpenStream() const;

  // The window's time is over, or everything is to end. Needs mutex_.
  bool Past() const;
  bool past() const;
  uint64_t under_way() const;

  const LoadOptions& options_;
  client::Session session_;
  const std::unique_ptr<StepSource> source_;
  const bool in_host_memory_;
  ExpectedPlan expected_;  // the taker's
  Recorder recorder_;
  std::optional<client::PlanStream> stream_;  // replaced only while nobody sends

  // A ring: the sender fills the one after the last, the taker empties the first. A slot of the
  // session for each, so that a plan stays readable until it was taken.
  std::vector<Request> requests_;
  Starts starts_;          // the sender's
  bool prepared_ = false;  // the sender's: the ring's next has its step

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Window window_;             // guarded by mutex_, as are the next
  bool window_open_ = false;  // the sender has not ended it yet
  bool finished_ = false;     // see State
  bool over_ = false;         // see State
  uint64_t sent_ = 0;
  uint64_t taken_ = 0;
  bool sending_ = false;  // the sender uses the stream
  bool broken_ = false;   // the stream is to be replaced
  bool stop_ = false;
  bool sender_ended_ = false;
  bool lost_ = false;
  Trouble trouble_;
  uint64_t plans_ = 0;   // of this window
  uint64_t errors_ = 0;  // of this window
  Clock::time_point last_plan_;
  Clock::time_point last_taken_;
  std::vector<std::thread> threads_;
};

}  // namespace gdnplan::load
