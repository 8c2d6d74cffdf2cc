// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/plan/status.h"
#include "server/shutting_down.h"

namespace gdnplan::server {
namespace {

absl::Status NoSuchSession() {
  return absl::NotFoundError(
      "session_id: no such session; it was closed, or opened on another server process");
}

}  // namespace

SessionRegistry::SessionRegistry(std::shared_ptr<Boot> boot, Session::Devices devices,
                                 Limits limits)
    : boot_(std::move(boot)), devices_(std::move(devices)), limits_(limits) {}

SessionRegistry::~SessionRegistry() { CloseAll(); }

absl::StatusOr<std::shared_ptr<Session>> SessionRegistry::Open(
    SessionOptions options, const std::vector<std::string>& device_ids) {
  GDNPLAN_ASSIGN_OR_RETURN(const Session::Devices devices, FindDevices(device_ids));
  GDNPLAN_ASSIGN_OR_RETURN(SessionIdentity identity, Reserve());
  // Without the lock: this takes long, and other sessions must not notice.
  absl::StatusOr<std::shared_ptr<Session>> session =
      Session::Create(std::move(identity), std::move(options), devices, poller_, fatal_);
  if (!session.ok()) {
    Release();
    return session;
  }
  bool stopped = false;
  {
    MutexLock lock(mutex_);
    stopped = stopped_;
    if (!stopped) sessions_.emplace((*session)->id(), *session);
  }
  if (!stopped) return session;
  Release();
  return ShuttingDown();
}

absl::StatusOr<SessionIdentity> SessionRegistry::Reserve() {
  GDNPLAN_ASSIGN_OR_RETURN(const RandomId id, MakeRandomId());
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  if (reserved_ >= limits_.max_sessions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("sessions: ", reserved_, " are open and max-sessions is ",
                     limits_.max_sessions, "; close one or raise the limit"));
  }
  ++reserved_;
  return SessionIdentity{.id = ToHex(id), .number = ++last_number_};
}

void SessionRegistry::Release() {
  MutexLock lock(mutex_);
  --reserved_;
}

absl::StatusOr<Session::Devices> SessionRegistry::FindDevices(
    const std::vector<std::string>& ids) const {
  if (ids.empty()) return Session::Devices{devices_.front()};
  Session::Devices found;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto field_index = static_cast<int64_t>(i);
    const auto device =
        std::find_if(devices_.begin(), devices_.end(),
                     [&](const std::shared_ptr<Device>& d) { return d->info().id == ids[i]; });
    if (device == devices_.end()) {
      const std::string known = absl::StrJoin(
          devices_, ", ", [](std::string* out, const auto& d) { *out += d->info().id; });
      return plan::InvalidElement(
          "devices", field_index,
          absl::StrCat("no such device (got ", absl::CHexEscape(ids[i].substr(0, 64)),
                       "); this server has ", known));
    }
    if (std::find(found.begin(), found.end(), *device) != found.end()) {
      return plan::InvalidElement("devices", field_index,
                                  absl::StrCat("named twice (got ", ids[i], ")"));
    }
    found.push_back(*device);
  }
  return found;
}

absl::StatusOr<std::shared_ptr<Session>> SessionRegistry::Find(std::string_view id) const {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return NoSuchSession();
  return found->second;
}

absl::Status SessionRegistry::Close(std::string_view id) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return NoSuchSession();
    session = std::move(found->second);
    sessions_.erase(found);
    --reserved_;
  }
  session->Close(NoSuchSession());
  return absl::OkStatus();
}

void SessionRegistry::StopOpening() {
  MutexLock lock(mutex_);
  stopped_ = true;
}

void SessionRegistry::CloseAll() {
  StopOpening();
  std::map<std::string, std::shared_ptr<Session>, std::less<>> sessions;
  {
    MutexLock lock(mutex_);
    sessions.swap(sessions_);
    reserved_ -= static_cast<int>(sessions.size());
  }
  // First let go whatever waits for a consumer: freeing one session's memory can wait for all work
  // on the device, another session's too.
  for (const auto& [id, session] : sessions) session->ReleaseAllConsumers();
  for (const auto& [id, session] : sessions) session->Close(ShuttingDown());
}

std::vector<std::shared_ptr<Session>> SessionRegistry::List() const {
  std::vector<std::shared_ptr<Session>> list;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, session] : sessions_) list.push_back(session);
  }
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a->number() < b->number(); });
  return list;
}

size_t SessionRegistry::size() const {
  MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace gdnplan::server
