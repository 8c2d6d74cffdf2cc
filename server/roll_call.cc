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
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit;
  MutexLock lock(roll_->mutex);
  for (Clock::time_point now = Clock::now(); !roll_->expected.empty() && now < end;
       now = Clock::now()) {
    roll_->changed.WaitFor(roll_->mutex, end - now);
  }
  return {roll_->expected.begin(), roll_->expected.end()};
}

}  // namespace gdnplan::server
