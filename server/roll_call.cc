// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/roll_call.h"

namespace gdnplan::server {

std::function<void()> RollCall::Expect(const std::string& who) {
  {
    MutexLock lock(roll_->mutex);
    roll_->expected.insert(who);
  }
  return [roll = roll_, who] {
    {
      MutexLock lock(roll->mutex);
      roll->expected.erase(who);
    }
    roll->changed.NotifyAll();
  };
}

std::vector<std::string> RollCall::Missing(std::chrono::milliseconds limit) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point end = Steady::now() + limit;
  MutexLock lock(roll_->mutex);
  for (Steady::time_point now = Steady::now(); !roll_->expected.empty() && now < end;
       now = Steady::now()) {
    roll_->changed.WaitFor(roll_->mutex, end - now);
  }
  return {roll_->expected.begin(), roll_->expected.end()};
}

}  // namespace gdnplan::server
