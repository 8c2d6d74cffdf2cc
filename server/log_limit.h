// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Keeps what others cause, again and again, from filling the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "server/mutex.h"

namespace gdnplan::server {

// Lets some lines of a kind through in each second. Thread safe.
class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LogLimit(int lines_a_second) : lines_a_second_(lines_a_second) {}

  // How many lines were left out since the last one; nothing: this one is left out, too.
  std::optional<uint64_t> Take(Clock::time_point now = Clock::now()) {
    MutexLock lock(mutex_);
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      lines_ = 0;
    }
    if (lines_ == lines_a_second_) {
      ++left_out_;
      return std::nullopt;
    }
    ++lines_;
    const uint64_t left_out = left_out_;
    left_out_ = 0;
    return left_out;
  }

 private:
  const int lines_a_second_;
  Mutex mutex_;
  Clock::time_point second_ ABSL_GUARDED_BY(mutex_){};
  int lines_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gdnplan::server
