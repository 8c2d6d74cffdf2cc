// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What scheduler and worker of the exchange say to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::test {

// To the worker: the session's id first, then one plan's record each.
struct Frame {
  uint64_t index = 0;  // of the batch
  std::string payload;
};

// To the scheduler.
struct Reply {
  enum Kind : uint64_t { kAttached, kPromised };
  uint64_t kind = kAttached;
  uint64_t timeline_value = 0;
};

absl::Status SendFrame(int fd, uint64_t index, std::string_view payload);
// Waits for the next one. nullopt: the other side has closed.
absl::StatusOr<std::optional<Frame>> ReceiveFrame(int fd);

absl::Status SendReply(int fd, const Reply& reply);
// nullopt: nothing came within the time. Aborted: the other side has closed.
absl::StatusOr<std::optional<Reply>> ReceiveReply(int fd, int timeout_ms);

}  // namespace gdnplan::test
