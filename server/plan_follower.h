// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Who is told of every plan of a session.
#pragma once

#include "absl/status/status.h"
#include "server/plan_result.h"

namespace gdnplan::server {

// A session calls these one at a time, with its lock held: they must not block, nor call the
// session.
class PlanFollower {
 public:
  virtual ~PlanFollower() = default;

  // In order. The plan's work is enqueued.
  virtual void OnPlan(const PlanResult& result) = 0;
  // The session ended; no call follows.
  virtual void OnEnd(const absl::Status& reason) = 0;
};

}  // namespace gdnplan::server
