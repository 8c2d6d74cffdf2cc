// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/plan_follower.h"

#include <utility>

#include "client/answer.h"
#include "client/session_state.h"
#include "client/stub_stream.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {

PlanFollower::PlanFollower(std::shared_ptr<SessionState> session, std::unique_ptr<StubWatch> watch,
                           size_t device)
    : session_(std::move(session)), watch_(std::move(watch)), device_(device) {}
PlanFollower::~PlanFollower() = default;
PlanFollower::PlanFollower(PlanFollower&&) noexcept = default;
PlanFollower& PlanFollower::operator=(PlanFollower&&) noexcept = default;

absl::Status PlanFollower::Begin(std::chrono::milliseconds timeout) {
  v1::WatchPlansResponse response;
  const absl::Status read = watch_->Read(response, DeadlineIn(timeout));
  if (!read.ok()) return session_->Explain(read);
  last_plan_before_ = response.last_plan_id();
  return absl::OkStatus();
}

absl::StatusOr<PlanView> PlanFollower::Next(std::chrono::milliseconds timeout) {
  v1::WatchPlansResponse response;
  const absl::Status read = watch_->Read(response, DeadlineIn(timeout));
  if (absl::IsDeadlineExceeded(read)) return absl::DeadlineExceededError("there was no plan yet");
  if (!read.ok()) return session_->Explain(read);
  num_missed_ = response.num_missed();
  return ToView(session_, response.plan(), device_);
}

void PlanFollower::Cancel() { watch_->Cancel(); }

}  // namespace gdnplan::client
