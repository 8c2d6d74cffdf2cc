// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A few threads for work that would hold up whoever asks for it.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "server/mutex.h"

namespace gdnplan::server {

// First in, first out. Thread safe.
class WorkQueue {
 public:
  struct Limits {
    int threads = 2;
    size_t waiting = 64;  // tasks that no thread has begun
  };
  explicit WorkQueue(Limits limits);
  // Runs what was accepted, then stops.
  ~WorkQueue();

  // Unavailable when too much waits; the task is dropped then.
  absl::Status Run(std::function<void()> task);

 private:
  struct Idle {};
  WorkQueue(Limits limits, Idle /*without threads*/) : limits_(limits) {}
  void Work();

  const Limits limits_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace gdnplan::server
