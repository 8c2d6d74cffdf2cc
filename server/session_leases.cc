// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_leases.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

absl::Status NoSuchAttachment(uint64_t attachment) {
  return absl::NotFoundError(absl::StrCat("attachment_id: no such attachment of this session (got ",
                                          attachment,
                                          "); it was detached, or its lease lapsed: attach again"));
}

}  // namespace

void SessionLeases::Renew(Clock::time_point now) {
  MutexLock lock(mutex_);
  owner_.Renew(now);
}

void SessionLeases::Hold() {
  MutexLock lock(mutex_);
  owner_.Hold();
}

void SessionLeases::Release(bool lost, Clock::time_point now) {
  MutexLock lock(mutex_);
  owner_.Release(lost, now);
}

bool SessionLeases::Lapsed(Clock::time_point now) const {
  MutexLock lock(mutex_);
  return owner_.Lapsed(now);
}

SessionLeases::Clock::duration SessionLeases::Left(Clock::time_point now) const {
  MutexLock lock(mutex_);
  return owner_.Left(now);
}

uint64_t SessionLeases::Attach(Clock::time_point now) {
  MutexLock lock(mutex_);
  attached_.emplace(++last_attachment_, Lease(times_, now));
  return last_attachment_;
}

absl::StatusOr<Lease*> SessionLeases::FindAttached(uint64_t attachment, Clock::time_point now) {
  const auto found = attached_.find(attachment);
  if (found == attached_.end() || found->second.Lapsed(now)) return NoSuchAttachment(attachment);
  return &found->second;
}

absl::Status SessionLeases::RenewAttached(uint64_t attachment, Clock::time_point now) {
  MutexLock lock(mutex_);
  GDNPLAN_ASSIGN_OR_RETURN(Lease* const lease, FindAttached(attachment, now));
  lease->Renew(now);
  return absl::OkStatus();
}

absl::Status SessionLeases::HoldAttached(uint64_t attachment, Clock::time_point now) {
  MutexLock lock(mutex_);
  GDNPLAN_ASSIGN_OR_RETURN(Lease* const lease, FindAttached(attachment, now));
  lease->Hold();
  return absl::OkStatus();
}

absl::Status SessionLeases::Detach(uint64_t attachment) {
  MutexLock lock(mutex_);
  return attached_.erase(attachment) > 0 ? absl::OkStatus() : NoSuchAttachment(attachment);
}

void SessionLeases::ReleaseAttached(uint64_t attachment, bool lost, Clock::time_point now) {
  MutexLock lock(mutex_);
  const auto found = attached_.find(attachment);
  if (found != attached_.end()) found->second.Release(lost, now);
}

SessionLeases::Clock::duration SessionLeases::LeftAttached(uint64_t attachment,
                                                           Clock::time_point now) const {
  MutexLock lock(mutex_);
  const auto found = attached_.find(attachment);
  return found == attached_.end() ? Clock::duration::zero() : found->second.Left(now);
}

size_t SessionLeases::CountAttached(Clock::time_point now) {
  MutexLock lock(mutex_);
  std::erase_if(attached_, [now](const auto& entry) { return entry.second.Lapsed(now); });
  return attached_.size();
}

void SessionLeases::RenewAll(Clock::time_point now) {
  MutexLock lock(mutex_);
  owner_.Renew(now);
  for (auto& [attachment, lease] : attached_) lease.Renew(now);
}

}  // namespace gdnplan::server
