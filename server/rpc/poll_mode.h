// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How a thread waits for requests: asleep, or asking again and again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace gdnplan::server {

enum class PollMode : uint8_t {
  kAdaptive,  // polls for a while where requests come densely, otherwise sleeps
  kAlways,    // polls, which takes a CPU core
  kNever,     // sleeps
};

constexpr const char* ToString(PollMode mode) {
  switch (mode) {
    case PollMode::kAdaptive:
      return "adaptive";
    case PollMode::kAlways:
      return "always";
    case PollMode::kNever:
      return "never";
  }
  return "";
}

// Decides how long to poll before sleeping, from how long the last waits took. Not thread safe.
class PollPolicy {
 public:
  using Duration = std::chrono::nanoseconds;

  // A wait that is longer than this on average is slept through: waking up is short against it.
  static constexpr Duration kDense = std::chrono::microseconds(500);
  // What a sleep saves is not worth less than this.
  static constexpr Duration kLeast = std::chrono::microseconds(50);

  explicit PollPolicy(PollMode mode) : mode_(mode) {}

  // How long to poll from now on; zero: sleep at once. Max: without end.
  Duration budget() const {
    if (mode_ == PollMode::kAlways) return Duration::max();
    if (mode_ == PollMode::kNever || average_ > kDense) return Duration::zero();
    return std::max(2 * average_, kLeast);
  }
  // After a wait. One that was far longer than dense ones counts as not much longer, so that dense
  // traffic is recognised soon again.
  void Waited(Duration waited) { average_ += (std::min(waited, 8 * kDense) - average_) / 8; }

 private:
  const PollMode mode_;
  Duration average_ = 8 * kDense;
};

}  // namespace gdnplan::server
