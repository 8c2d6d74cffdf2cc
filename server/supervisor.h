// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Who started this process and watches it: systemd, or whoever else speaks its protocol
// (sd_notify(3)): datagrams of lines NAME=VALUE to the socket that NOTIFY_SOCKET names.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::server {

class Supervisor {
 public:
  // Nobody: what it is told goes nowhere.
  Supervisor() = default;
  // By the environment: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, which is this process or
  // `parent`, that it serves for. InvalidArgument names the variable that is no good.
  static absl::StatusOr<Supervisor> FromEnvironment(pid_t parent);

  bool there() const { return !socket_.empty(); }
  // How often it wants a sign of life at the least. 0: it wants none.
  std::chrono::microseconds watchdog() const { return watchdog_; }

  // "READY=1" and the like. Waits for a second at most where it takes nothing.
  absl::Status Tell(std::string_view state) const;

 private:
  std::string socket_;  // as sockaddr_un has it: of an abstract one the first byte is 0
  std::chrono::microseconds watchdog_{0};
};

}  // namespace gdnplan::server
