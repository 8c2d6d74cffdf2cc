// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A worker's way to the plans that its scheduler asked for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/plan_view.h"

namespace gdnplan::client {

class SessionState;
class StubWatch;

struct FollowOptions {
  bool poll = false;  // as StreamOptions::poll
};

// Made by Session::Follow; keeps what it needs of the session. Every plan made after that comes, in
// order, also each UpdateBlockTable's: the same plan again with a higher timeline_value. One thread
// at a time, but for Cancel.
class PlanFollower {
 public:
  ~PlanFollower();
  PlanFollower(PlanFollower&&) noexcept;
  PlanFollower& operator=(PlanFollower&&) noexcept;

  // The next plan. DeadlineExceeded: there was none yet; ask again. Other errors are the follower's
  // end: NotFound when the session is gone, Unavailable when the server or the connection is.
  absl::StatusOr<PlanView> Next(std::chrono::milliseconds timeout);

  // Plans that were missed right before the one that Next returned last, for this follower was too
  // slow: the server keeps the last 64 for it.
  uint64_t num_missed() const { return num_missed_; }
  // The last plan made before the following began; 0: none.
  uint64_t last_plan_before() const { return last_plan_before_; }

  // From any thread; whoever waits in Next gets Cancelled.
  void Cancel();

 private:
  friend class Session;
  PlanFollower(std::shared_ptr<SessionState> session, std::unique_ptr<StubWatch> watch,
               size_t device);
  // Waits for the server's word that it announces every plan from now on.
  absl::Status Begin(std::chrono::milliseconds timeout);

  std::shared_ptr<SessionState> session_;
  std::unique_ptr<StubWatch> watch_;
  size_t device_;
  uint64_t num_missed_ = 0;
  uint64_t last_plan_before_ = 0;
};

}  // namespace gdnplan::client
