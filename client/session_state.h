// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/lease_keeper.h"
#include "client/mapped_arena.h"
#include "client/stub.h"
#include "gdnplan/client/client.h"
#include "gdnplan/client/session_info.h"

namespace gdnplan::client {

// What a Session and its PlanViews share. Thread safe.
class SessionState : public std::enable_shared_from_this<SessionState> {
 public:
  struct Parts {
    std::shared_ptr<Stub> stub;
    SessionInfo info;
    ClientOptions options;
    bool owner = false;
    uint64_t attachment_id = 0;  // of one that attached
    std::shared_ptr<LeaseKeeper> keeper;
  };
  explicit SessionState(Parts parts);

  const SessionInfo& info() const { return parts_.info; }
  const ClientOptions& options() const { return parts_.options; }
  bool owner() const { return parts_.owner; }
  uint64_t attachment_id() const { return parts_.attachment_id; }
  LeaseKeeper& keeper() const { return *parts_.keeper; }
  Stub& stub() const { return *parts_.stub; }

  // The arena with that index, mapped when it is first asked for. A failure is tried again.
  absl::StatusOr<std::shared_ptr<MappedArena>> Arena(size_t index) const;

  // A checked record (CheckPlan) as seen on one device.
  PlanView View(PlanRecord record, size_t device) {
    return PlanView(shared_from_this(), std::move(record), device);
  }

  // FailedPrecondition once closed.
  absl::Status CheckOpen() const;
  // True for the first caller alone.
  bool BeginClose() { return !closed_.exchange(true); }

  // What an error of a call on this session means: where the session is gone, the message says
  // whether the server restarted.
  absl::Status Explain(const absl::Status& status) const;

 private:
  const Parts parts_;
  std::atomic<bool> closed_ = false;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<MappedArena>> arenas_;  // guarded by mutex_; null: not yet
};

}  // namespace gdnplan::client
