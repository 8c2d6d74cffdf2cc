// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Gives signs of life for a connection's sessions.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace gdnplan::client {

class SessionState;

// One thread, once there is a session with a lease. It gives a sign at a third of the lease, and
// soon after a stream was cancelled, which the server takes for a lost owner. Thread safe. Of no
// use, but harmless, in a forked child.
class LeaseKeeper {
 public:
  LeaseKeeper();
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Until the session is closed by this process, or gone on the server. ResourceExhausted: there is
  // no thread for it.
  absl::Status Keep(const std::shared_ptr<SessionState>& session);
  // Signs for every session now, and a little later once more.
  void SignSoon();

 private:
  class Work;

  const pid_t pid_ = getpid();
  std::shared_ptr<Work> work_;
  std::mutex mutex_;
  std::thread thread_;  // guarded by mutex_; runs once needed
};

}  // namespace gdnplan::client
