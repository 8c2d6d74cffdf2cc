// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The right to listen on a Unix socket's path.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace gdnplan::server {

// Whoever binds a path removes what is there before, a live server's socket included. So servers
// hold a lock on PATH.lock first. The destructor removes the socket and the lock file.
class UnixSocketClaim {
 public:
  // Makes the directory, with mode 0750, if only that is missing, and removes the socket of a
  // server that is gone. FailedPrecondition when another server listens there or when the path is
  // something else.
  static absl::StatusOr<UnixSocketClaim> Take(const std::string& path);

  // Where the lock of a socket's path is.
  static std::string LockPath(const std::string& path) { return path + ".lock"; }

  UnixSocketClaim(UnixSocketClaim&& other) noexcept;
  UnixSocketClaim& operator=(UnixSocketClaim&& other) noexcept;
  ~UnixSocketClaim();

 private:
  UnixSocketClaim(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  std::string path_;
  int lock_fd_ = -1;  // -1: claims nothing
};

}  // namespace gdnplan::server
