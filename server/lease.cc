// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/lease.h"

#include <algorithm>

namespace gdnplan::server {

void Lease::Renew(Clock::time_point now) { end_ = now + times_.length; }

void Lease::Release(bool lost, Clock::time_point now) {
  --holds_;
  end_ = now + (lost ? std::min(times_.grace, times_.length) : times_.length);
}

Lease::Clock::duration Lease::Left(Clock::time_point now) const {
  if (holds_ > 0 || times_.length.count() == 0) return Clock::duration::max();
  return std::max(end_ - now, Clock::duration::zero());
}

}  // namespace gdnplan::server
