// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The thread that writes announcements, so that no planner's thread does.
#pragma once

#include <thread>
#include <vector>

#include "server/mutex.h"

namespace gdnplan::server {

class PlanWatch;

// Thread safe.
class Announcer {
 public:
  Announcer();
  // Nothing may be scheduled any more.
  ~Announcer();

  // watch.Pump() will be called. The watch stays alive until then.
  void Schedule(PlanWatch& watch);

 private:
  void Run();

  Mutex mutex_;
  CondVar wake_;
  std::vector<PlanWatch*> scheduled_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gdnplan::server
