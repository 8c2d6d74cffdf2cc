// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/pid_distance.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/random_id.h"

namespace gdnplan::server {
namespace {

using Clock = std::chrono::steady_clock;

// Several servers and workers that do the same shall not meet again.
constexpr pid_t kSpread = 3000;
// PIDs below the limit that are left to others: who takes the last ones may find that the numbers
// have started over when it forks.
constexpr pid_t kLeftToOthers = 256;

pid_t RandomOffset() {
  const absl::StatusOr<RandomId> random = MakeRandomId();
  return random.ok() ? ((*random)[0] << 8 | (*random)[1]) % kSpread : 0;
}

// All PIDs are lower than this.
pid_t PidLimit() {
  pid_t limit = 0;
  std::ifstream("/proc/sys/kernel/pid_max") >> limit;
  return limit > 0 ? limit : 32768;
}

// The PID of a child that has come and gone; -1: none could be made.
pid_t BurnPid() {
  // Not fork: there are thousands of them, and none needs memory of its own to exit.
  const pid_t pid = vfork();
  if (pid == 0) _exit(EXIT_SUCCESS);
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return pid;
}

// Lets PIDs pass until the next one is probably `target` or more. The last one that passed; 0:
// there was no child, or the numbers started over.
pid_t BurnUpTo(pid_t target, Clock::time_point end) {
  pid_t last = 0;
  while (last < target - 1 && Clock::now() < end) {
    const pid_t pid = BurnPid();
    if (pid < last) return 0;
    last = pid;
  }
  return last;
}

sigset_t ParentSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) {
    sigaddset(&signals, signal);
  }
  return signals;
}

// The parent's life. The signals are blocked.
[[noreturn]] void WatchOver(pid_t child, const sigset_t& signals) {
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal != SIGCHLD) {
      kill(child, signal);
      continue;
    }
    int status = 0;
    // As PID 1 it has to bury every orphan of the namespace.
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == child) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
  }
}

// Returns the parent's PID in the child, and 0 if there could be none.
pid_t GoOnInChild() {
  const pid_t parent = getpid();
  const sigset_t signals = ParentSignals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t child = fork();
  if (child > 0) WatchOver(child, signals);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);  // it died before the line above
  return parent;
}

}  // namespace

PidMove TakeDistantPid(pid_t min_pid, std::chrono::milliseconds limit) {
  PidMove move;
  if (getpid() >= min_pid) return move;
  // Whoever started this may have left SIGCHLD ignored, and children vanish unwaited for then.
  signal(SIGCHLD, SIG_DFL);
  const pid_t pid_limit = PidLimit();
  pid_t last = 0;
  if (min_pid < pid_limit) {
    const pid_t target = std::min(min_pid + RandomOffset(), pid_limit - kLeftToOthers);
    last = BurnUpTo(target, Clock::now() + limit);
  }
  // A lower one is no better than this one.
  if (last + 1 >= min_pid) move.from = GoOnInChild();
  if (getpid() < min_pid) {
    move.warning = absl::StrCat(
        "this process has PID ", getpid(), ", lower than min-pid, ", min_pid, " (PIDs are below ",
        pid_limit, ", and the last one seen in ", limit.count(), " ms was ", last,
        "): a worker in another container that has the same PID cannot map GPU memory from here");
  }
  return move;
}

}  // namespace gdnplan::server
