// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// This program once more, as a process of its own: CUDA and gRPC do not survive a mere fork.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::test {

class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
  // Both ends close on exec.
  static absl::StatusOr<Pipe> Create();
};

// Text of errno with the call before it.
absl::Status ErrnoStatus(const char* call);

// Move only. Its end kills the child if it still runs, and waits for it.
class ChildProcess {
 public:
  // The child has fds[i] as kFirstFd + i.
  static constexpr int kFirstFd = 100;

  // `arguments`: what follows the program's name.
  static absl::StatusOr<ChildProcess> Spawn(const std::vector<std::string>& arguments,
                                            std::span<const int> fds);
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~ChildProcess() { Kill(); }

  // Once this returns the child's GPU work is over, too.
  void Kill();
  // OK when the child has ended with status 0. DeadlineExceeded: it still runs.
  absl::Status Wait(std::chrono::milliseconds timeout);

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  pid_t pid_;
};

// In a child: ends it when its parent ends, however that happens. `parent`: getpid() there.
void DieWithParent(pid_t parent);

}  // namespace gdnplan::test
