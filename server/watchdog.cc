// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/watchdog.h"

#include <algorithm>
#include <utility>

namespace gdnplan::server {

Watchdog::Watchdog(std::chrono::microseconds interval, Handlers handlers)
    : period_(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(interval / 2),
                       std::chrono::milliseconds(1))),
      handlers_(std::move(handlers)),
      thread_([this] { Run(); }) {}

Watchdog::~Watchdog() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void Watchdog::Run() {
  using Clock = std::chrono::steady_clock;
  while (true) {
    const Clock::time_point next = Clock::now() + period_;
    const absl::Status status = handlers_.check(period_);
    status.ok() ? handlers_.alive() : handlers_.hangs(status);
    MutexLock lock(mutex_);
    for (Clock::time_point now = Clock::now(); !stop_ && now < next; now = Clock::now()) {
      wake_.WaitFor(mutex_, next - now);
    }
    if (stop_) return;
  }
}

}  // namespace gdnplan::server
