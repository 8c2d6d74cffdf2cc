// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/starts.h"

#include <algorithm>
#include <cmath>

namespace gdnplan::load {
namespace {

using FloatSeconds = std::chrono::duration<double>;

// About 30 years, which a duration of nanoseconds holds.
constexpr double kNeverS = 1e9;

}  // namespace

Starts::Starts(const LoadOptions& options, int session)
    : pace_(options.pace),
      interval_s_(options.rate > 0 ? options.sessions / options.rate : 0),
      first_s_(options.rate > 0 ? session / options.rate : 0),
      random_(options.seed * 1'000'003 + static_cast<uint64_t>(session)),
      poisson_s_(first_s_) {}

uint64_t Starts::End(Clock::time_point end) {
  uint64_t due = 0;
  if (pace_ == Pace::kConstant) due = TakeConstant(end);
  if (pace_ == Pace::kPoisson) due = TakePoisson(end);
  passed_s_ += FloatSeconds(end - begin_).count();
  return due;
}

std::optional<Starts::Clock::time_point> Starts::Next(double due_s) const {
  switch (pace_) {
    case Pace::kClosed:
      return std::nullopt;
    case Pace::kTrace:
      return At(due_s);
    case Pace::kConstant:
    case Pace::kPoisson:
      return At(next_s());
  }
  return std::nullopt;
}

void Starts::Take() {
  ++taken_;
  if (pace_ == Pace::kPoisson) poisson_s_ += Interval();
}

// Rounded, so that a start which is due at a window's end is not a nanosecond before it.
Starts::Clock::time_point Starts::At(double seconds) const {
  const double in_s = std::min(seconds - passed_s_, kNeverS);
  return begin_ + Clock::duration(std::llround(in_s * 1e9));
}

double Starts::next_s() const {
  return pace_ == Pace::kPoisson ? poisson_s_
                                 : first_s_ + static_cast<double>(taken_) * interval_s_;
}

uint64_t Starts::TakeConstant(Clock::time_point end) {
  const uint64_t before = taken_;
  // There may be more than can be gone through one by one.
  const double end_s = passed_s_ + FloatSeconds(end - begin_).count();
  const double all = std::max(0.0, std::floor((end_s - first_s_) / interval_s_) - 1);
  taken_ = std::max(taken_, static_cast<uint64_t>(all));
  while (At(next_s()) < end) ++taken_;
  return taken_ - before;
}

uint64_t Starts::TakePoisson(Clock::time_point end) {
  if (At(poisson_s_) >= end) return 0;
  // As above. How many come in a time, and when the next one does, are known without those before.
  const double end_s = passed_s_ + FloatSeconds(end - begin_).count();
  std::poisson_distribution<uint64_t> more(std::max(end_s - poisson_s_, 1e-9) / interval_s_);
  const uint64_t due = 1 + more(random_);
  poisson_s_ = end_s + Interval();
  taken_ += due;
  return due;
}

}  // namespace gdnplan::load
