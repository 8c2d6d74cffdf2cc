// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The sessions of a server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/fatal_error.h"
#include "server/mutex.h"
#include "server/session.h"
#include "server/session_poller.h"

namespace gdnplan::server {

// Opens, finds and closes sessions. Thread safe. Errors never repeat a session's id: it is a
// right to attach.
class SessionRegistry {
 public:
  struct Limits {
    int max_sessions = 64;
  };

  // At least one device.
  SessionRegistry(std::shared_ptr<Boot> boot, Session::Devices devices, Limits limits);
  // Closes every session.
  ~SessionRegistry();

  // `device_ids` empty: the first device. InvalidArgument naming the field; ResourceExhausted when
  // there are too many sessions or the memory does not fit; Unavailable after CloseAll. Slow: it
  // allocates and initialises the session's memory.
  absl::StatusOr<std::shared_ptr<Session>> Open(SessionOptions options,
                                                const std::vector<std::string>& device_ids);
  // NotFound. The session stays usable while somebody holds it, though it answers NotFound once
  // closed.
  absl::StatusOr<std::shared_ptr<Session>> Find(std::string_view id) const;
  // NotFound. Waits for the plan that is being made, if one is.
  absl::Status Close(std::string_view id);
  // From now on Open refuses.
  void StopOpening();
  // Ends all sessions with Unavailable.
  void CloseAll();

  // In the order in which they were opened.
  std::vector<std::shared_ptr<Session>> List() const;
  size_t size() const;

  const Boot& boot() const { return *boot_; }
  const Session::Devices& devices() const { return devices_; }
  const Limits& limits() const { return limits_; }
  // What the sessions' devices met.
  FatalError& fatal_error() { return fatal_; }

 private:
  absl::StatusOr<Session::Devices> FindDevices(const std::vector<std::string>& ids) const;
  // Takes one of the sessions that may exist, and gives it back.
  absl::StatusOr<SessionIdentity> Reserve();
  void Release();

  const std::shared_ptr<Boot> boot_;
  const Session::Devices devices_;
  const Limits limits_;
  FatalError fatal_;
  SessionPoller poller_;

  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>, std::less<>> sessions_ ABSL_GUARDED_BY(mutex_);
  int reserved_ ABSL_GUARDED_BY(mutex_) = 0;  // sessions and those about to be
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gdnplan::server
