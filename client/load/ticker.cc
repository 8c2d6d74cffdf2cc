// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/ticker.h"

#include <utility>

namespace gdnplan::load {

Ticker::Ticker(std::chrono::milliseconds pause, std::function<void()> tick)
    : thread_([this, pause, tick = std::move(tick)] {
        std::unique_lock lock(mutex_);
        while (!stopped_.wait_for(lock, pause, [this] { return stop_; })) {
          lock.unlock();
          tick();
          lock.lock();
        }
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

}  // namespace gdnplan::load
