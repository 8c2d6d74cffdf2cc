// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How long somebody is believed to be there without a sign.
#pragma once

#include <chrono>

namespace gdnplan::server {

struct LeaseTimes {
  using Milliseconds = std::chrono::milliseconds;

  // Without any use. 0: for ever.
  Milliseconds length{30'000};
  // For an owner whose stream broke to come back, and for attached processes to let go of an ended
  // session's memory.
  Milliseconds grace{2'000};
};

// Times are the caller's. Not thread safe.
class Lease {
 public:
  using Clock = std::chrono::steady_clock;

  Lease(const LeaseTimes& times, Clock::time_point now) : times_(times) { Renew(now); }

  // It was used.
  void Renew(Clock::time_point now);
  // It does not lapse before as many releases; for open streams.
  void Hold() { ++holds_; }
  // lost: without a goodbye, so that its holder may be dead. The last one to be released decides,
  // and any use after it does again.
  void Release(bool lost, Clock::time_point now);

  bool Lapsed(Clock::time_point now) const { return Left(now) == Clock::duration::zero(); }
  // Clock::duration::max(): it does not lapse as things are.
  Clock::duration Left(Clock::time_point now) const;

 private:
  const LeaseTimes times_;
  int holds_ = 0;
  Clock::time_point end_;
};

}  // namespace gdnplan::server
