// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Something that is done again and again beside the rest.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gdnplan::load {

class Ticker {
 public:
  // Calls tick() on a thread of its own, with `pause` before each.
  Ticker(std::chrono::milliseconds pause, std::function<void()> tick);
  // Waits for the call under way.
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace gdnplan::load
