// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_registry.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/status.h"
#include "gdnplan/plan/validate.h"
#include "server/out_of_memory.h"
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
      reaper_([this] { RunReaper(); }) {
  OutOfMemory();  // while there is some
}

SessionRegistry::~SessionRegistry() { CloseAll(); }

absl::StatusOr<std::shared_ptr<Session>> SessionRegistry::Open(
    SessionOptions options, const std::vector<std::string>& device_ids) {
  return CatchOutOfMemory([&] { return OpenOne(std::move(options), device_ids); });
}

absl::StatusOr<std::shared_ptr<Session>> SessionRegistry::OpenOne(
    SessionOptions options, const std::vector<std::string>& device_ids) {
  GDNPLAN_ASSIGN_OR_RETURN(const Session::Devices devices, FindDevices(device_ids));
  GDNPLAN_RETURN_IF_ERROR(plan::ValidateConfig(options.config));
  GDNPLAN_ASSIGN_OR_RETURN(const plan::ArenaLayout layout,
                           plan::ArenaLayout::Create(options.config, options.num_slots));
  GDNPLAN_RETURN_IF_ERROR(CheckLimits(limits_, options.config, layout));
  GDNPLAN_ASSIGN_OR_RETURN(const RandomId id, MakeRandomId());
  SessionIdentity identity{.id = ToHex(id)};
  Sessions entry;
  Holder& holder = entry[identity.id];
  holder.emplace_back();
  const Share share = {devices, static_cast<uint64_t>(layout.arena_bytes)};
  // From here on nothing but Create fails.
  GDNPLAN_ASSIGN_OR_RETURN(identity.number, Reserve(share));
  options.lease = lease_;
  options.max_followers = static_cast<size_t>(limits_.max_followers);
  options.recorder = &recorder_;
  // Without the lock: this takes long, and other sessions must not notice.
  absl::StatusOr<std::shared_ptr<Session>> session =
      Session::Create(std::move(identity), std::move(options), devices, poller_, fatal_);
  if (!session.ok()) {
    ReleaseSession();
    ReleaseBytes(devices, share.bytes);
    return session;
  }
  holder.front() = *session;
  {
    MutexLock lock(mutex_);
    if (!stopped_) {
      sessions_.merge(entry);
      ++num_opened_;
      return session;
    }
  }
  Finish(std::move(holder), ShuttingDown(), /*at_once=*/true);
  return ShuttingDown();
}

absl::StatusOr<uint64_t> SessionRegistry::Reserve(const Share& share) {
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
  return ++last_number_;
}

void SessionRegistry::ReleaseSession() {
  MutexLock lock(mutex_);
  --reserved_;
}

void SessionRegistry::ReleaseBytes(const Session::Devices& devices, uint64_t bytes) {
  MutexLock lock(mutex_);
  for (const std::shared_ptr<Device>& device : devices) device_bytes_[device.get()] -= bytes;
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
  return found->second.front();
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
  const absl::Status reason = NoSuchSession();
  Holder session;
  {
    MutexLock lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return reason;
    session = std::move(found->second);
    sessions_.erase(found);
  }
  Finish(std::move(session), reason);
  return absl::OkStatus();
}

void SessionRegistry::Finish(Holder session, const absl::Status& reason, bool at_once) {
  session.front()->Close(reason);
  ReleaseSession();
  {
    MutexLock lock(mutex_);
    ended_.splice(ended_.end(), session);
  }
  FreeEnded(Clock::now(), at_once);
}

void SessionRegistry::FreeEnded(Clock::time_point now, bool at_once) {
  Holder ended;
  {
    MutexLock lock(mutex_);
    ended.swap(ended_);
  }
  std::erase_if(ended, [&](const std::shared_ptr<Session>& session) {
    if (!session->FreeMemory(now, at_once)) return false;
    ReleaseBytes(session->devices(), static_cast<uint64_t>(session->layout().arena_bytes));
    return true;
  });
  MutexLock lock(mutex_);
  ended_.splice(ended_.end(), ended);
}

SessionRegistry::Holder SessionRegistry::TakeLapsed(Clock::time_point now) {
  MutexLock lock(mutex_);
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return entry.second.front()->leases().Lapsed(now);
  });
  if (found == sessions_.end()) return {};
  Holder session = std::move(found->second);
  sessions_.erase(found);
  ++num_lapsed_;
  return session;
}

void SessionRegistry::Reap(Clock::time_point now) {
  const absl::Status reason = LeaseLapsed();
  for (Holder lapsed = TakeLapsed(now); !lapsed.empty(); lapsed = TakeLapsed(now)) {
    const std::shared_ptr<Session> session = lapsed.front();
    Finish(std::move(lapsed), reason);
    if (on_lapse_) on_lapse_(*session);
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
    try {
      // Stopped, or starved: whoever gave a sign meanwhile could not be heard.
      if (now - last > interval + kStoodStill) {
        for (const std::shared_ptr<Session>& session : List()) session->leases().RenewAll(now);
      }
      Reap(now);
    } catch (const std::bad_alloc&) {
      continue;  // the next time again
    }
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
  Sessions sessions;
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
    for (const auto& [id, session] : sessions_) list.push_back(session.front());
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
