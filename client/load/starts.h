// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// When a session's requests are meant to start.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

#include "client/load/options.h"

namespace gdnplan::load {

// Not thread safe.
class Starts {
 public:
  using Clock = std::chrono::steady_clock;

  // `session` of options.sessions, which begin at `begin`: sessions take turns, so that they do not
  // start in step.
  Starts(const LoadOptions& options, int session, Clock::time_point begin)
      : pace_(options.pace),
        begin_(begin),
        interval_s_(options.rate > 0 ? options.sessions / options.rate : 0),
        random_(options.seed * 1'000'003 + static_cast<uint64_t>(session)),
        next_s_(options.rate > 0 ? session / options.rate : 0) {}

  // Of the next request, which is due `due_s` after the workload's start. Nothing: at once.
  std::optional<Clock::time_point> Next(double due_s) {
    switch (pace_) {
      case Pace::kClosed:
        return std::nullopt;
      case Pace::kTrace:
        return At(due_s);
      case Pace::kConstant:
        return At(std::exchange(next_s_, next_s_ + interval_s_));
      case Pace::kPoisson:
        return At(std::exchange(
            next_s_, next_s_ + std::exponential_distribution<double>(1 / interval_s_)(random_)));
    }
    return std::nullopt;
  }

 private:
  Clock::time_point At(double seconds) const {
    return begin_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  const Pace pace_;
  const Clock::time_point begin_;
  const double interval_s_;
  std::mt19937_64 random_;
  double next_s_;
};

}  // namespace gdnplan::load
