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

// The load's time passes in windows and stands still between them: what is due after a window's end
// is due in the next one. Not thread safe.
class Starts {
 public:
  using Clock = std::chrono::steady_clock;

  // `session` of options.sessions: they take turns, so that they do not start in step.
  Starts(const LoadOptions& options, int session);

  void Begin(Clock::time_point now) { begin_ = now; }
  // Ends the window. How many starts were due before `end` and not taken: they are none any more. A
  // trace's steps are not among them, for only their source knows them.
  uint64_t End(Clock::time_point end);

  // Of the next request, which is due `due_s` after the workload's start. Nothing: at once. Within
  // a window.
  std::optional<Clock::time_point> Next(double due_s) const;
  // That start was made.
  void Take();

 private:
  // Seconds of the load's time.
  Clock::time_point At(double seconds) const;
  double next_s() const;
  uint64_t TakeConstant(Clock::time_point end);
  uint64_t TakePoisson(Clock::time_point end);
  double Interval() { return std::exponential_distribution<double>(1 / interval_s_)(random_); }

  const Pace pace_;
  const double interval_s_;
  const double first_s_;
  std::mt19937_64 random_;
  Clock::time_point begin_;
  double passed_s_ = 0;  // in the windows before
  uint64_t taken_ = 0;   // of kConstant: a sum of intervals would drift
  double poisson_s_;     // of kPoisson: the next start
};

}  // namespace gdnplan::load
