// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A planning session: opened by a scheduler, attached to by its workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/plan_follower.h"
#include "gdnplan/client/plan_record.h"
#include "gdnplan/client/plan_stream.h"
#include "gdnplan/client/plan_view.h"
#include "gdnplan/client/session_info.h"
#include "gdnplan/plan/batch.h"

struct CUstream_st;  // what a cudaStream_t points to

namespace gdnplan::client {

// Who tells the server that a slot may be written again.
enum class SlotReuse : uint8_t {
  kUnguarded,  // nobody: the caller plans only once the slot's last plan has been read
  kConsumed,   // Session::MarkConsumed; the server waits for it, at most slot_wait
};

struct SessionOptions {
  std::vector<std::string> devices = {};  // ids as ServerInfo has them; empty: the server's first
  int32_t num_slots = 1;                  // sets of buffers that plans use in turn
  std::string name = {};                  // for people, logs and metrics
  SlotReuse slot_reuse = SlotReuse::kUnguarded;
  std::chrono::milliseconds slot_wait{0};  // 0: the server's default
  // Whether the arenas are mapped at once. Otherwise at the first use of a tensor: for a scheduler
  // that reads none.
  bool map_now = true;
  TimelinePlace timeline = TimelinePlace::kAuto;
};

struct AttachOptions {
  // The devices to use, as SessionInfo has them: a rank's own, say. Empty: all of them.
  std::vector<std::string> devices = {};
  bool map_now = true;
  // This process consumes the plans on these devices from now on, in the place of whoever did
  // before: what that one left unconsumed counts as consumed. Plans for this process are asked for
  // only after the attachment.
  bool consumer = false;
};

struct Lease {
  std::chrono::milliseconds remaining{0};  // 0: it never lapses
  uint64_t last_plan_id = 0;               // 0: none yet
};

// Thread safe, except for moving and destroying. Each Session has a mapping of its own for each of
// its arenas, shared by its plans and unmapped with the last of them. Every call to the server
// returns FailedPrecondition in a process that was forked from the one that made the Client, and
// after Close. NotFound from a call means that the session is gone; the message says whether the
// server restarted.
class Session {
 public:
  // An owner closes its session, an attached Session detaches; best effort: it waits for two
  // seconds at most, and an error leaves the rest to the lease.
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Plans one step. InvalidArgument names the field that was refused; nothing was written then.
  // Internal: the answer contradicts the session's description.
  absl::StatusOr<PlanView> Plan(const plan::BatchView& batch, const PlanOptions& options = {});

  // The hot path: the same over one stream, ordered, many in flight. See PlanStream.
  absl::StatusOr<PlanStream> OpenStream(const StreamOptions& options = {}) const;
  // For a worker: every plan of the session from now on, whoever asks for it. See PlanFollower.
  absl::StatusOr<PlanFollower> Follow(const FollowOptions& options = {}) const;

  // Rewrites one group's state indices of `plan` from a new table [R, width]. The result has a new
  // timeline_value. FailedPrecondition: the slot holds a later plan.
  absl::StatusOr<PlanView> UpdateBlockTable(const PlanView& plan, int32_t group,
                                            const plan::BlockTableView& table,
                                            const PlanOptions& options = {});

  // A plan that another process asked for, such as a worker gets from its scheduler. Internal: a
  // place outside the arena, a tensor that the session does not have, an impossible shape.
  absl::StatusOr<PlanView> View(PlanRecord record) const;

  // Waits on the CPU until the plan's bytes are there, on the plan's device. DeadlineExceeded names
  // the value waited for. Without an arena in host memory: Unimplemented.
  absl::Status WaitReady(const PlanView& plan, std::chrono::nanoseconds timeout) const;
  // After the last read of a plan: its slot may be written again, on the plan's device. Only the
  // session's one consumer there calls it. Values never go back.
  absl::Status MarkConsumed(const PlanView& plan) const;

  // The same two in the order of a CUDA stream of this process, on the plan's GPU; the CPU does not
  // wait. A stream of another GPU, or a session without CUDA: Unimplemented or CUDA's error.
  //
  // Work enqueued on the stream after this runs once the plan's bytes are there.
  absl::Status WaitReadyOn(CUstream_st* stream, const PlanView& plan) const;
  // Once all work enqueued on the stream before this has run, the slot may be written again.
  absl::Status MarkConsumedOn(CUstream_st* stream, const PlanView& plan) const;

  // Renews the lease. Plans do so too, and the Client's thread for whoever has nothing to plan.
  // `consumption_promised`: as in PlanOptions, for a plan
  // that waits for its slot already.
  absl::StatusOr<Lease> Heartbeat(uint64_t consumption_promised = 0);

  // An owner ends the session on the server; plans in flight finish first, and its memory goes once
  // attached processes have let go of it, some seconds later in any case. An attached Session only
  // lets go itself. A second call does nothing. What is mapped stays readable.
  absl::Status Close();

  const SessionInfo& info() const;
  // What a worker needs for Client::AttachSession.
  const std::string& id() const { return info().session_id; }
  // Whether this Session opened the session and closes it.
  bool owner() const;

 private:
  friend class Client;
  explicit Session(std::shared_ptr<SessionState> state, size_t first_device);

  absl::Status CheckOwn(const PlanView& plan) const;

  std::shared_ptr<SessionState> state_;  // null after a move
  size_t first_device_ = 0;
};

}  // namespace gdnplan::client
