// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One session under load.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/load/expected_plan.h"
#include "client/load/options.h"
#include "client/load/recorder.h"
#include "client/load/starts.h"
#include "client/load/step_source.h"
#include "gdnplan/client/client.h"

namespace gdnplan::load {

// Opens a session, sends it its workload's steps and records what comes of it, until it is told to
// stop or the workload is over.
class Lane {
 public:
  // `in_flight`: requests under way at most; with unary calls 1. Options outlive it.
  static absl::StatusOr<std::unique_ptr<Lane>> Open(const LoadOptions& options, int number,
                                                    const client::Client& client, int in_flight);
  ~Lane();

  void Start(Starts::Clock::time_point begin);
  // Nothing is sent any more. Does not wait.
  void BeginStop();
  // Waits for the answers to what is under way, and closes the session.
  absl::Status Stop();
  // Whether the workload is over and everything was answered.
  bool over() const { return over_; }

  Recorder& recorder() { return recorder_; }
  const client::SessionInfo& info() const { return session_.info(); }

 private:
  using Clock = Starts::Clock;
  // A request under way.
  struct Request {
    Step step;
    Clock::time_point intended;
    Clock::time_point start;
    bool verify = false;
  };

  Lane(const LoadOptions& options, int number, client::Session session,
       std::unique_ptr<StepSource> source, int in_flight);

  // Closed loops and unary calls: one thread sends and takes. It is the quickest way, and what
  // schedulers do.
  void RunAlone();
  // Open loops over a stream: an answer that is late must not make the next request late.
  void RunSender();
  void RunTaker();

  // Waits until it is due and sends the next request. False: the end.
  bool SendNext();
  // Takes the answer to the oldest request under way.
  void TakeNext();
  absl::StatusOr<client::PlanView> NextAnswer(const Request& request);
  bool AwaitTime(Clock::time_point time);
  bool stopping() const;
  uint64_t under_way() const;
  void Finished(uint64_t requests);
  // After the stream broke: what was under way on it is lost, and counted; then another one.
  void Reopen();

  // With what the comparison says, where one was asked for.
  void Record(const Request& request, const client::PlanView& plan, Clock::time_point answered);

  const LoadOptions& options_;
  const int number_;
  client::Session session_;
  const std::unique_ptr<StepSource> source_;
  std::optional<Starts> starts_;
  const bool in_host_memory_;
  ExpectedPlan expected_;  // the taker's
  Recorder recorder_;
  std::optional<client::PlanStream> stream_;  // replaced only while nobody sends

  // A ring: the sender fills the one after the last, the taker empties the first. A slot of the
  // session for each, so that a plan stays readable until it was taken.
  std::vector<Request> requests_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t sent_ = 0;  // guarded by mutex_, as are the next
  uint64_t taken_ = 0;
  bool sending_ = false;  // the sender uses the stream
  bool broken_ = false;   // a send found the stream broken
  bool stop_ = false;
  bool exhausted_ = false;  // the workload is over, or the sender stopped
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gdnplan::load
