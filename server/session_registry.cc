// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/status.h"
#include "gdnplan/plan/validate.h"
#include "server/shutting_down.h"

namespace gdnplan::server {
namespace {

absl::Status NoSuchSession() {
  return absl::NotFoundError(
      "session_id: no such session; it was closed, its lease lapsed, or another server process "
      "opened it");
}

absl::Status LeaseLapsed() {
  return absl::NotFoundError(
      "session_id: the session's lease lapsed, for its owner gave no sign; open a new one");
}

// How often sessions are looked at.
constexpr std::chrono::milliseconds kShortestReap{5};
constexpr std::chrono::milliseconds kLongestReap{1'000};
constexpr std::chrono::milliseconds kStoodStill{500};

}  // namespace

SessionRegistry::SessionRegistry(std::shared_ptr<Boot> boot, Session::Devices devices,
                                 const Limits& limits, const LeaseTimes& lease, OnLapse on_lapse)
    : boot_(std::move(boot)),
      devices_(std::move(devices)),
      limits_(limits),
      lease_(lease),
      on_lapse_(std::move(on_lapse)),
      reaper_([this] { RunReaper(); }) {}

SessionRegistry::~SessionRegistry() { CloseAll(); }

absl::StatusOr<std::shared_ptr<Session>> SessionRegistry::Open(
    SessionOptions options, const std::vector<std::string>& device_ids) {
  GDNPLAN_ASSIGN_OR_RETURN(const Session::Devices devices, FindDevices(device_ids));
  GDNPLAN_RETURN_IF_ERROR(plan::ValidateConfig(options.config));
  GDNPLAN_ASSIGN_OR_RETURN(const plan::ArenaLayout layout,
                           plan::ArenaLayout::Create(options.config, options.num_slots));
  GDNPLAN_RETURN_IF_ERROR(CheckLimits(limits_, options.config, layout));
  const Share share = {devices, static_cast<uint64_t>(layout.arena_bytes)};
  GDNPLAN_ASSIGN_OR_RETURN(SessionIdentity identity, Reserve(share));
  options.lease = lease_;
  options.max_followers = static_cast<size_t>(limits_.max_followers);
  options.recorder = &recorder_;
  // Without the lock: this takes long, and other sessions must not notice.
  absl::StatusOr<std::shared_ptr<Session>> session =
      Session::Create(std::move(identity), std::move(options), devices, poller_, fatal_);
  if (!session.ok()) {
    ReleaseSession();
    ReleaseBytes(share);
    return session;
  }
  bool stopped = false;
  {
    MutexLock lock(mutex_);
    stopped = stopped_;
    if (!stopped) {
      sessions_.emplace((*session)->id(), *session);
      ++num_opened_;
    }
  }
  if (!stopped) return session;
  Finish(*std::move(session), ShuttingDown(), /*at_once=*/true);
  return ShuttingDown();
}

absl::StatusOr<SessionIdentity> SessionRegistry::Reserve(const Share& share) {
  GDNPLAN_ASSIGN_OR_RETURN(const RandomId id, MakeRandomId());
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  if (reserved_ >= limits_.max_sessions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("sessions: ", reserved_, " are open and max-sessions is ",
                     limits_.max_sessions, "; close one or raise the limit"));
  }
  for (const std::shared_ptr<Device>& device : share.devices) {
    const uint64_t used = device_bytes_[device.get()];
    if (limits_.max_device_bytes == 0 || used + share.bytes <= limits_.max_device_bytes) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "device ", device->info().id, ": the session needs ", share.bytes, " bytes, and of ",
        limits_.max_device_bytes, " (--max-device-bytes) sessions have ", used,
        "; close one, ask for smaller limits, or raise it"));
  }
  for (const std::shared_ptr<Device>& device : share.devices) {
    device_bytes_[device.get()] += share.bytes;
  }
  ++reserved_;
  return SessionIdentity{.id = ToHex(id), .number = ++last_number_};
}

void SessionRegistry::ReleaseSession() {
  MutexLock lock(mutex_);
  --reserved_;
}

void SessionRegistry::ReleaseBytes(const Share& share) {
  MutexLock lock(mutex_);
  for (const std::shared_ptr<Device>& device : share.devices) {
    device_bytes_[device.get()] -= share.bytes;
  }
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

absl::StatusOr<std::shared_ptr<Session>> SessionRegistry::FindAny(std::string_view id) const {
  absl::StatusOr<std::shared_ptr<Session>> found = Find(id);
  if (found.ok()) return found;
  MutexLock lock(mutex_);
  const auto ended = std::find_if(ended_.begin(), ended_.end(),
                                  [id](const auto& session) { return session->id() == id; });
  if (ended != ended_.end()) return *ended;
  return found;
}

absl::Status SessionRegistry::Close(std::string_view id) {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return NoSuchSession();
    session = std::move(found->second);
    sessions_.erase(found);
  }
  Finish(std::move(session), NoSuchSession());
  return absl::OkStatus();
}

void SessionRegistry::Finish(std::shared_ptr<Session> session, const absl::Status& reason,
                             bool at_once) {
  session->Close(reason);
  ReleaseSession();
  {
    MutexLock lock(mutex_);
    ended_.push_back(std::move(session));
  }
  FreeEnded(Clock::now(), at_once);
}

void SessionRegistry::FreeEnded(Clock::time_point now, bool at_once) {
  std::vector<std::shared_ptr<Session>> ended;
  {
    MutexLock lock(mutex_);
    ended.swap(ended_);
  }
  std::erase_if(ended, [&](const std::shared_ptr<Session>& session) {
    if (!session->FreeMemory(now, at_once)) return false;
    ReleaseBytes({session->devices(), static_cast<uint64_t>(session->layout().arena_bytes)});
    return true;
  });
  MutexLock lock(mutex_);
  std::move(ended.begin(), ended.end(), std::back_inserter(ended_));
}

void SessionRegistry::Reap(Clock::time_point now) {
  std::vector<std::shared_ptr<Session>> lapsed;
  {
    MutexLock lock(mutex_);
    std::erase_if(sessions_, [&](const auto& entry) {
      if (!entry.second->leases().Lapsed(now)) return false;
      lapsed.push_back(entry.second);
      return true;
    });
    num_lapsed_ += lapsed.size();
  }
  for (std::shared_ptr<Session>& session : lapsed) {
    if (on_lapse_) on_lapse_(*session);
    Finish(std::move(session), LeaseLapsed());
  }
  FreeEnded(now);
}

void SessionRegistry::RunReaper() {
  const std::chrono::nanoseconds interval =
      std::clamp<std::chrono::nanoseconds>(lease_.grace / 4, kShortestReap, kLongestReap);
  Clock::time_point last = Clock::now();
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!stopped_) wake_.WaitFor(mutex_, interval);
      if (stopped_) return;
    }
    const Clock::time_point now = Clock::now();
    // Stopped, or starved: whoever gave a sign meanwhile could not be heard.
    if (now - last > interval + kStoodStill) {
      for (const std::shared_ptr<Session>& session : List()) session->leases().RenewAll(now);
    }
    Reap(now);
    last = Clock::now();
  }
}

SessionRegistry::Counts SessionRegistry::counts() const {
  MutexLock lock(mutex_);
  Counts counts{.opened = num_opened_,
                .lapsed = num_lapsed_,
                .open = sessions_.size(),
                .ended = ended_.size()};
  for (const std::shared_ptr<Device>& device : devices_) {
    const auto bytes = device_bytes_.find(device.get());
    counts.device_bytes.push_back(bytes == device_bytes_.end() ? 0 : bytes->second);
  }
  return counts;
}

void SessionRegistry::StopOpening() {
  MutexLock lock(mutex_);
  stopped_ = true;
}

void SessionRegistry::CloseAll() {
  std::map<std::string, std::shared_ptr<Session>, std::less<>> sessions;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    sessions.swap(sessions_);
  }
  wake_.NotifyAll();
  if (reaper_.joinable()) reaper_.join();
  for (auto& [id, session] : sessions) Finish(std::move(session), ShuttingDown(), true);
  FreeEnded(Clock::now(), /*at_once=*/true);
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
