// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/session_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {

SessionState::SessionState(Parts parts)
    : parts_(std::move(parts)), arenas_(parts_.info.arenas.size()) {}

absl::StatusOr<std::shared_ptr<MappedArena>> SessionState::Arena(size_t index) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<MappedArena>& arena = arenas_[index];
  if (arena == nullptr) {
    GDNPLAN_ASSIGN_OR_RETURN(arena, MapArena(info(), index));
  }
  return arena;
}

absl::Status SessionState::CheckOpen() const {
  if (!closed_) return absl::OkStatus();
  return absl::FailedPreconditionError("the session was closed by this process");
}

absl::Status SessionState::Explain(const absl::Status& status) const {
  if (!absl::IsNotFound(status)) return status;
  const auto server = stub().GetServerInfo({.deadline = std::chrono::milliseconds(1'000)}, {});
  if (!server.ok()) return status;
  if (server->boot_id() != info().boot_id) {
    return absl::NotFoundError(absl::StrCat(
        status.message(), "; the server restarted (boot id ", server->boot_id(), ", was ",
        info().boot_id, "): open a new session, every address of before is gone"));
  }
  return absl::NotFoundError(absl::StrCat(
      status.message(), "; the session was closed or its lease lapsed: open a new one"));
}

}  // namespace gdnplan::client
