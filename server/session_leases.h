// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Who keeps a session: its owner, and the processes that attached to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/lease.h"
#include "server/mutex.h"

namespace gdnplan::server {

// The owner's lease keeps the session. Those of attached processes do not: they only say whether
// somebody may still have its memory mapped. Thread safe.
class SessionLeases {
 public:
  using Clock = Lease::Clock;

  SessionLeases(const LeaseTimes& times, Clock::time_point now)
      : times_(times), owner_(times, now) {}

  // The owner's. See Lease.
  void Renew(Clock::time_point now);
  void Hold();
  void Release(bool lost, Clock::time_point now);
  bool Lapsed(Clock::time_point now) const;
  Clock::duration Left(Clock::time_point now) const;

  // An attachment's number, from 1.
  uint64_t Attach(Clock::time_point now);
  // NotFound, from here on: there is no such attachment, or it lapsed.
  absl::Status RenewAttached(uint64_t attachment, Clock::time_point now);
  absl::Status HoldAttached(uint64_t attachment, Clock::time_point now);
  absl::Status Detach(uint64_t attachment);
  // Nothing if it is gone.
  void ReleaseAttached(uint64_t attachment, bool lost, Clock::time_point now);
  Clock::duration LeftAttached(uint64_t attachment, Clock::time_point now) const;
  // Attachments that live; those that lapsed go.
  size_t CountAttached(Clock::time_point now);

  // Everybody's: the server itself stood still, so that silence says nothing.
  void RenewAll(Clock::time_point now);

 private:
  // NotFound.
  absl::StatusOr<Lease*> FindAttached(uint64_t attachment, Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const LeaseTimes times_;
  mutable Mutex mutex_;
  Lease owner_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Lease> attached_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_attachment_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gdnplan::server
