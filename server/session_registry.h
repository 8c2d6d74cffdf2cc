// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The sessions of a server.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/fatal_error.h"
#include "server/lease.h"
#include "server/limits.h"
#include "server/mutex.h"
#include "server/session.h"
#include "server/session_poller.h"

namespace gdnplan::server {

// Opens, finds and closes sessions, and ends those whose lease lapses. Thread safe. Errors never
// repeat a session's id: it is a right to attach.
class SessionRegistry {
 public:
  using Clock = Session::Clock;
  // Told of a session that ended because its lease had lapsed; on the registry's thread.
  using OnLapse = std::function<void(const Session& session)>;

  // At least one device.
  SessionRegistry(std::shared_ptr<Boot> boot, Session::Devices devices, const Limits& limits,
                  const LeaseTimes& lease = {}, OnLapse on_lapse = nullptr);
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
  // The same, of those that ended too and whose memory is still there.
  absl::StatusOr<std::shared_ptr<Session>> FindAny(std::string_view id) const;
  // NotFound. Waits for the plan that is being made, if one is.
  absl::Status Close(std::string_view id);
  // From now on Open refuses.
  void StopOpening();
  // Ends all sessions with Unavailable, and frees their memory whoever is attached.
  void CloseAll();
  // Ends sessions whose lease has lapsed by `now`, and frees what may go by then. The registry's
  // own thread does so as well.
  void Reap(Clock::time_point now);

  // In the order in which they were opened.
  std::vector<std::shared_ptr<Session>> List() const;
  size_t size() const;

  const Boot& boot() const { return *boot_; }
  const Session::Devices& devices() const { return devices_; }
  const Limits& limits() const { return limits_; }
  const LeaseTimes& lease() const { return lease_; }
  struct Counts {
    uint64_t opened = 0;  // so far
    uint64_t lapsed = 0;  // so far
    size_t open = 0;
    size_t ended = 0;                         // and still with memory
    std::vector<uint64_t> device_bytes = {};  // of all sessions, in the order of devices()
  };
  Counts counts() const;
  uint64_t num_lapsed() const { return counts().lapsed; }
  // What the sessions' devices met.
  FatalError& fatal_error() { return fatal_; }
  // What the sessions did.
  PlanRecorder& recorder() { return recorder_; }
  const PlanRecorder& recorder() const { return recorder_; }
  // The one thread that all sessions' waiting calls depend on calls it, soon.
  void Ping(std::function<void()> pong) { poller_.Ping(std::move(pong)); }

 private:
  absl::StatusOr<Session::Devices> FindDevices(const std::vector<std::string>& ids) const;
  // What a session takes of the server's limits.
  struct Share {
    Session::Devices devices;
    uint64_t bytes = 0;  // on each
  };
  // A list of one, so that a session goes from one place to another without an allocation, which
  // could fail.
  using Holder = std::list<std::shared_ptr<Session>>;
  using Sessions = std::map<std::string, Holder, std::less<>>;

  absl::StatusOr<std::shared_ptr<Session>> OpenOne(SessionOptions options,
                                                   const std::vector<std::string>& device_ids);
  // The session's number.
  absl::StatusOr<uint64_t> Reserve(const Share& share);
  // Gives back one session, and the bytes, which may be later.
  void ReleaseSession();
  void ReleaseBytes(const Session::Devices& devices, uint64_t bytes);
  // A session that was taken out of sessions_. Frees its memory, or keeps it until that may go.
  void Finish(Holder session, const absl::Status& reason, bool at_once = false);
  void FreeEnded(Clock::time_point now, bool at_once = false);
  // Nothing: no session's lease has lapsed.
  Holder TakeLapsed(Clock::time_point now);
  void RunReaper();

  const std::shared_ptr<Boot> boot_;
  const Session::Devices devices_;
  const Limits limits_;
  const LeaseTimes lease_;
  const OnLapse on_lapse_;
  FatalError fatal_;
  PlanRecorder recorder_;
  SessionPoller poller_;

  mutable Mutex mutex_;
  Sessions sessions_ ABSL_GUARDED_BY(mutex_);
  Holder ended_ ABSL_GUARDED_BY(mutex_);      // still with memory
  int reserved_ ABSL_GUARDED_BY(mutex_) = 0;  // sessions and those about to be
  std::map<const Device*, uint64_t> device_bytes_ ABSL_GUARDED_BY(mutex_);
  uint64_t num_opened_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t num_lapsed_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  CondVar wake_;        // of the reaper, which ends once stopped
  std::thread reaper_;  // last: it uses the others
};

}  // namespace gdnplan::server
