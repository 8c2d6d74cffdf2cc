// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The completion queue of one streaming call, served by whoever waits for something.
#pragma once

#include <grpcpp/grpcpp.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace gdnplan::client {

// Thread safe. No thread of its own: the waiting thread takes the event itself, which is the
// quickest way; a second one that waits is told by the first.
class CallEvents {
 public:
  enum class Operation : uint8_t { kStart, kWrite, kRead, kFinish };
  using Deadline = std::chrono::steady_clock::time_point;

  // poll: whoever waits asks again and again, and keeps a core busy, instead of sleeping.
  explicit CallEvents(bool poll) : poll_(poll) {}
  // None of its operations may be under way.
  ~CallEvents();

  grpc::CompletionQueue& queue() { return queue_; }

  // The tag of an operation that is about to start. It must not be under way.
  void* Begin(Operation operation);
  // Waits until the operation is not under way, and returns its result: of a first one, if it never
  // began, true. Nothing when the deadline came first.
  std::optional<bool> Await(Operation operation, Deadline deadline);

 private:
  struct State {
    bool under_way = false;
    bool ok = true;
  };
  // Takes one event, without the lock. Whether there was one.
  bool Take(Deadline deadline, std::unique_lock<std::mutex>& lock);

  const bool poll_;
  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<State, 4> states_;  // guarded by mutex_
  bool taking_ = false;          // guarded by mutex_: a thread is in Take
};

}  // namespace gdnplan::client
