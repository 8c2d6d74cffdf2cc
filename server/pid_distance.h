// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// CUDA IPC takes a handle for one of the importer's own, and refuses it, when the exporter has the
// same PID, be it in another PID namespace. What runs in a container has PID 1 or a few more, the
// server like its workers: so the server moves out of their way.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace gdnplan::server {

struct PidMove {
  pid_t from = 0;       // the process that was started, this one's parent now; 0: this is it
  std::string warning;  // not empty: the PID is lower than asked for
};

// Returns in a process whose PID is at least `min_pid`, by chance a few thousand more. If the
// calling one's is lower, that is a child of it: it dies with its parent, which never returns, but
// passes signals on and exits with the child's status. Gives up after `limit`, or where PIDs start
// over before, and stays where it is then. Call it before
// anything that a fork would break: threads, CUDA, gRPC.
PidMove TakeDistantPid(pid_t min_pid, std::chrono::milliseconds limit = std::chrono::seconds(2));

}  // namespace gdnplan::server
