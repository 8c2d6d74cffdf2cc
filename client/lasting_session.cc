// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/lasting_session.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace {

using Clock = std::chrono::steady_clock;

bool IsGone(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsUnavailable(status);
}

}  // namespace

LastingSession::LastingSession(const Client& client, const plan::PlanConfig& config,
                               const LastingOptions& options)
    : client_(client), config_(config), options_(options) {}

absl::StatusOr<LastingSession> LastingSession::Open(const Client& client,
                                                    const plan::PlanConfig& config,
                                                    const LastingOptions& options) {
  LastingSession session(client, config, options);
  GDNPLAN_RETURN_IF_ERROR(session.Reopen());
  return session;
}

absl::StatusOr<PlanView> LastingSession::Plan(const plan::BatchView& batch,
                                              const PlanOptions& options) {
  const Clock::time_point end = Clock::now() + options_.patience;
  while (true) {
    absl::StatusOr<PlanView> plan = session_->Plan(batch, options);
    if (plan.ok() || !IsGone(plan.status()) || Clock::now() >= end) return plan;
    GDNPLAN_RETURN_IF_ERROR(Reopen());
  }
}

absl::Status LastingSession::Reopen() {
  std::minstd_rand random(std::random_device{}());
  const Clock::time_point end = Clock::now() + options_.patience;
  std::chrono::duration<double> pause = options_.first_pause;
  while (true) {
    absl::StatusOr<Session> session = client_.OpenSession(config_, options_.session);
    if (session.ok()) {
      session_.emplace(*std::move(session));
      if (++generation_ > 1 && options_.on_reopened) options_.on_reopened(*session_);
      return absl::OkStatus();
    }
    // NotFound: the server went while its memory was being mapped.
    if (!IsGone(session.status())) return session.status();
    const auto sleep = pause * std::uniform_real_distribution<double>(0.5, 1)(random);
    if (Clock::now() + sleep >= end) return session.status();
    std::this_thread::sleep_for(sleep);
    pause = std::min<std::chrono::duration<double>>(pause * 2, options_.longest_pause);
  }
}

}  // namespace gdnplan::client
