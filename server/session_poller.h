// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Looks after sessions whose calls wait for a slot or for a device, so that no other thread has to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "server/mutex.h"

namespace gdnplan::server {

class Session;

// One thread for all sessions. It sleeps while none of them waits. Thread safe.
class SessionPoller {
 public:
  SessionPoller();
  // Stops the thread. Calls that still wait are not answered: close the sessions first.
  ~SessionPoller();

  // Calls session->Advance() in short intervals until it has nothing left to wait for.
  void Watch(std::shared_ptr<Session> session);
  // The thread calls it, soon.
  void Ping(std::function<void()> pong);

 private:
  using Sessions = std::vector<std::shared_ptr<Session>>;
  using Pings = std::vector<std::function<void()>>;

  void Run();
  // Moves newcomers to `sessions` and answers pings; waits for the first if there is no session.
  // False: stop.
  bool Collect(Sessions& sessions);
  void Sleep(std::chrono::nanoseconds interval);

  Mutex mutex_;
  CondVar wake_;
  Sessions newcomers_ ABSL_GUARDED_BY(mutex_);
  Pings pings_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gdnplan::server
