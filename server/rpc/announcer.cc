// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/announcer.h"

#include "server/rpc/plan_watch.h"

namespace gdnplan::server {

Announcer::Announcer() : thread_([this] { Run(); }) {}

Announcer::~Announcer() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void Announcer::Schedule(PlanWatch& watch) {
  MutexLock lock(mutex_);
  scheduled_.push_back(&watch);
  // Under the lock: once the watch is gone, this may go.
  wake_.NotifyOne();
}

void Announcer::Run() {
  std::vector<PlanWatch*> watches;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!stop_ && scheduled_.empty()) wake_.Wait(mutex_);
      if (scheduled_.empty()) return;
      watches.swap(scheduled_);
    }
    for (PlanWatch* watch : watches) watch->Pump();
    watches.clear();
  }
}

}  // namespace gdnplan::server
