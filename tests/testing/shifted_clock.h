// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Sets the system's clock, as programs see it that a test starts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gdnplan::test {

// For processes started with environment(), whose C library's clock it moves by a preloaded
// library: CLOCK_REALTIME, and waits until a time of it. Not the monotonic clock, nor this process.
class ShiftedClock {
 public:
  ShiftedClock();
  ~ShiftedClock();
  ShiftedClock(const ShiftedClock&) = delete;
  ShiftedClock& operator=(const ShiftedClock&) = delete;

  // NAME=VALUE
  std::vector<std::string> environment() const;
  // From the true time, for all of them at once.
  void Set(std::chrono::seconds shift) { *shift_s_ = shift.count(); }

 private:
  std::string path_;
  std::atomic<int64_t>* shift_s_ = nullptr;
};

}  // namespace gdnplan::test
