// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Whether threads still come around.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/mutex.h"

namespace gdnplan::server {

// Not thread safe, but for what Expect returns.
class RollCall {
 public:
  // What the thread calls once it comes around; from any thread, and after this object's end too.
  std::function<void()> Expect(const std::string& who);
  // Waits for everybody that is expected, so long at most. Who did not call, in order.
  std::vector<std::string> Missing(std::chrono::milliseconds limit);

 private:
  struct Roll {
    Mutex mutex;
    CondVar changed;
    std::set<std::string> expected ABSL_GUARDED_BY(mutex);
  };
  const std::shared_ptr<Roll> roll_ = std::make_shared<Roll>();
};

}  // namespace gdnplan::server
