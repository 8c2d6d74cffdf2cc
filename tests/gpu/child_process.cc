// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"

namespace gdnplan::test {

absl::Status ErrnoStatus(const char* call) {
  return absl::InternalError(absl::StrCat(call, ": ", std::strerror(errno)));
}

absl::StatusOr<Pipe> Pipe::Create() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus("pipe2");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

absl::StatusOr<ChildProcess> ChildProcess::Spawn(const std::vector<std::string>& arguments,
                                                 std::span<const int> fds) {
  std::vector<std::string> texts = {program_invocation_name};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);

  // Not fork: gRPC's handlers would have to run in a process that has its threads no more.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (size_t i = 0; i < fds.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, fds[i], kFirstFd + static_cast<int>(i));
  }
  pid_t pid = -1;
  errno = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  const int error = errno;
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  if (error != 0) return ErrnoStatus("posix_spawn");
  return ChildProcess(pid);
}

void ChildProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

absl::Status ChildProcess::Wait(std::chrono::milliseconds timeout) {
  if (pid_ < 0) return absl::FailedPreconditionError("the child was waited for before");
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      pid_ = -1;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
      return absl::InternalError(
          WIFEXITED(status) ? absl::StrCat("the child ended with status ", WEXITSTATUS(status))
                            : absl::StrCat("the child was ended by signal ", WTERMSIG(status)));
    }
    if (ended < 0 && errno != EINTR) return ErrnoStatus("waitpid");
    if (std::chrono::steady_clock::now() >= end) {
      return absl::DeadlineExceededError("the child still runs");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void DieWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before.
  if (getppid() != parent) _exit(1);
}

}  // namespace gdnplan::test
