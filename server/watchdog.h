// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Signs of life for a supervisor, only while there is life.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "server/mutex.h"

namespace gdnplan::server {

class Watchdog {
 public:
  // On the watchdog's thread.
  struct Handlers {
    // Whether the process does its work; must come back within about `limit`.
    std::function<absl::Status(std::chrono::milliseconds limit)> check;
    // It does.
    std::function<void()> alive;
    // It does not; looked at again and again.
    std::function<void(const absl::Status& why)> hangs;
  };

  // `interval`: how often the supervisor wants a sign. It gets two.
  Watchdog(std::chrono::microseconds interval, Handlers handlers);
  // No handler is called any more.
  ~Watchdog();

 private:
  void Run();

  const std::chrono::milliseconds period_;
  const Handlers handlers_;
  Mutex mutex_;
  CondVar wake_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gdnplan::server
