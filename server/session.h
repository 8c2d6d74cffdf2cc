// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One model runner's planning context.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/config.h"
#include "server/device.h"
#include "server/fatal_error.h"
#include "server/lease.h"
#include "server/mutex.h"
#include "server/plan_follower.h"
#include "server/plan_recorder.h"
#include "server/session_call.h"
#include "server/session_leases.h"
#include "server/session_poller.h"
#include "server/slot_ring.h"

namespace gdnplan::server {

// What its opener chose. num_slots and config have their defaults filled in.
struct SessionOptions {
  plan::PlanConfig config;
  int32_t num_slots = 1;
  std::string name;
  bool guarded = false;  // slots are reused only once consumed
  std::chrono::milliseconds slot_wait{1000};
  TimelinePlace timeline = TimelinePlace::kArena;
  // The server's.
  LeaseTimes lease;
  size_t max_followers = 64;
  PlanRecorder* recorder = nullptr;  // of every answered call; none: nobody records
};

// How the registry tells it apart.
struct SessionIdentity {
  std::string id;
  uint64_t number = 0;
};

// How another process finds the session's memory on one device.
struct ArenaDescription {
  DeviceInfo device;
  MemoryHandle handle;
  std::optional<MemoryHandle> timeline_handle;  // where it is not in the arena
  uint64_t generation = 0;
};

struct SessionStatistics {
  uint64_t num_plans = 0;
  uint64_t num_refused = 0;
  uint64_t last_plan_id = 0;
  std::chrono::nanoseconds age{0};
  std::chrono::nanoseconds idle{0};
};

// Thread safe. A call that has to wait is answered by the poller's thread; no other thread blocks.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Clock = SessionCall::Clock;
  using Devices = std::vector<std::shared_ptr<Device>>;

  // Calls that may wait at a time.
  static constexpr int kMaxWaiting = 64;

  // InvalidArgument, naming the field, or ResourceExhausted when the memory does not fit. `fatal`
  // hears of every error of a device; it and the poller must outlive the session's last call.
  static absl::StatusOr<std::shared_ptr<Session>> Create(SessionIdentity identity,
                                                         SessionOptions options,
                                                         const Devices& devices,
                                                         SessionPoller& poller, FatalError& fatal);

  // Plans are made in the order in which they are submitted; updates do not wait for a slot.
  // Answers through call.Done, perhaps before this returns. Its errors: InvalidArgument and
  // FailedPrecondition as of SlotRing; ResourceExhausted when the slot stays busy or too many calls
  // wait; Cancelled when abandoned; DeadlineExceeded when a device does not finish; what the
  // session ended with; and a device's error, which ends the session.
  void Submit(SessionCall& call);

  struct Progress {
    bool made = false;      // a call was answered, or a deferred write enqueued
    bool waiting = false;   // a call or a write still does
    bool deferred = false;  // a write does, for which a GPU's next step may wait in turn
  };
  // For the poller.
  Progress Advance(Clock::time_point now);

  // The follower is told of every plan and update from now on, until it unfollows or the session
  // ends. Returns the last plan's id. What the session ended with; ResourceExhausted.
  absl::StatusOr<uint64_t> Follow(PlanFollower& follower);
  // No call of the follower is under way after this. Nothing if it does not follow.
  void Unfollow(PlanFollower& follower);

  // Another process consumes from now on on these devices: what the last one left counts as
  // consumed. InvalidArgument when the session is not there.
  absl::Status ReleaseConsumers(const std::vector<std::string>& device_ids);
  // See DeviceArena::Promise; apart from a call.
  void Promise(uint64_t timeline_value);

  // Answers waiting calls and all later ones with `reason`. The first reason counts. The memory
  // goes once calls that wait for a device have been answered and no attached process is left; the
  // lease's grace later in any case.
  void Close(const absl::Status& reason);
  // Of a session that ended: frees the memory if it may go by now. True: it is gone. `at_once`:
  // attached processes count no more.
  bool FreeMemory(Clock::time_point now, bool at_once = false);

  SessionLeases& leases() { return leases_; }
  const SessionLeases& leases() const { return leases_; }

  const std::string& id() const { return identity_.id; }
  uint64_t number() const { return identity_.number; }
  const SessionOptions& options() const { return options_; }
  const plan::ArenaLayout& layout() const { return layout_; }
  const std::vector<ArenaDescription>& arenas() const { return arenas_; }
  const Devices& devices() const { return devices_; }
  SessionStatistics statistics() const;

 private:
  Session(SessionIdentity identity, SessionOptions options, const plan::ArenaLayout& layout,
          SessionPoller& poller, FatalError& fatal);
  absl::Status AddArenas(const Devices& devices);

  absl::Status SlotBusy(std::string_view why) const;
  // The poller looks after calls that wait. With no lock held.
  void Watch(CallList& done);
  bool Waits() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a deferred write was enqueued.
  bool AdvanceDeferred(CallList& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The steps of a call. Answered ones go to `done`.
  void Admit(SessionCall& call, CallList& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool CanExecute(const SessionCall& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enqueue(SessionCall& call, CallList& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Execute(SessionCall& call, CallList& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AdvanceWaiting(Clock::time_point now, CallList& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AdvanceFinishing(Clock::time_point now, CallList& done)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndAfterFailure(const absl::Status& failure, CallList& done)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& reason, CallList& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(SessionCall& call, absl::StatusOr<PlanResult> result, CallList& done)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Record(const SessionCall& call, const absl::StatusOr<PlanResult>& result) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The memory of a session that ended, once nobody needs it. Destroy it with no lock held: that
  // may wait for a device.
  std::unique_ptr<SlotRing> TakeEndedRing(Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SessionIdentity identity_;
  const SessionOptions options_;
  const plan::ArenaLayout layout_;
  const Clock::time_point opened_ = Clock::now();
  SessionLeases leases_;
  SessionPoller& poller_;
  FatalError& fatal_;
  // Constant once created.
  Devices devices_;
  std::vector<ArenaDescription> arenas_;

  mutable Mutex mutex_;
  std::unique_ptr<SlotRing> ring_ ABSL_GUARDED_BY(mutex_);  // null once ended and freed
  absl::Status end_ ABSL_GUARDED_BY(mutex_);                // OK while the session lives
  Clock::time_point ended_at_ ABSL_GUARDED_BY(mutex_);
  CallList waiting_ ABSL_GUARDED_BY(mutex_);    // for their turn and a slot
  CallList finishing_ ABSL_GUARDED_BY(mutex_);  // for the devices
  std::vector<PlanFollower*> followers_ ABSL_GUARDED_BY(mutex_);
  bool watched_ ABSL_GUARDED_BY(mutex_) = false;  // the poller has it
  Clock::time_point last_used_ ABSL_GUARDED_BY(mutex_) = opened_;
  SessionStatistics counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gdnplan::server
