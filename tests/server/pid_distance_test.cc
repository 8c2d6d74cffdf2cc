// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/pid_distance.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <functional>
#include <thread>

namespace gdnplan::test {
namespace {

using server::PidMove;
using server::TakeDistantPid;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr int kNotPermitted = 99;

// What goes wrong in other processes becomes an exit status: gtest is in this one.
int Check(bool good, int otherwise) { return good ? 0 : otherwise; }

pid_t Start(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int StatusOf(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The process that runs the body as PID 1, as in a container; it exits with kNotPermitted where the
// machine does not let it.
pid_t StartAsFirst(const std::function<int()>& body) {
  return Start([&] {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      return kNotPermitted;
    }
    // This one stays outside: the next is the first.
    return StatusOf(Start(body));
  });
}

int RunAsFirst(const std::function<int()>& body) { return StatusOf(StartAsFirst(body)); }

// Bytes from other processes.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
  ~Pipe() {
    close(ends_[0]);
    CloseWriter();
  }
  void CloseWriter() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  template <typename T>
  void Write(const T& value) const {
    static_cast<void>(!write(ends_[1], &value, sizeof(value)));
  }
  // -1 at the end.
  template <typename T>
  T Read() const {
    T value{};
    return read(ends_[0], &value, sizeof(value)) == sizeof(value) ? value : T{-1};
  }

 private:
  int ends_[2] = {-1, -1};
};

sigset_t Block(int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

TEST(PidDistanceTest, StaysWhereThePidIsHighEnough) {
  const pid_t before = getpid();
  for (const pid_t min : {0, 1, before}) {
    const PidMove move = TakeDistantPid(min);
    EXPECT_EQ(move.from, 0);
    EXPECT_EQ(move.warning, "");
    EXPECT_EQ(getpid(), before);
  }
}

TEST(PidDistanceTest, GivesUpWithAWarning) {
  const pid_t before = getpid();
  // More than there are, and no time.
  for (const auto& [min, limit] :
       {std::pair(INT_MAX, milliseconds(60'000)), std::pair(before + 1, milliseconds(0))}) {
    const PidMove move = TakeDistantPid(min, limit);
    EXPECT_EQ(getpid(), before);
    EXPECT_EQ(move.from, 0);
    EXPECT_THAT(move.warning, HasSubstr("has PID " + std::to_string(before) +
                                        ", lower than min-pid, " + std::to_string(min)));
  }
}

TEST(PidDistanceTest, LeavesPid1) {
  const int status = RunAsFirst([] {
    const PidMove move = TakeDistantPid(1000, std::chrono::minutes(1));
    return Check(move.from == 1, 1) | Check(getppid() == 1, 2) | Check(getpid() >= 1000, 4) |
           Check(getpid() < 5000, 8) | Check(move.warning.empty(), 16);
  });
  if (status == kNotPermitted) GTEST_SKIP() << "no PID namespaces here";
  EXPECT_EQ(status, 0);
}

TEST(PidDistanceTest, TheParentPassesTheStatusOn) {
  for (const bool killed : {false, true}) {
    const int status = RunAsFirst([&] {
      // Whoever starts this may leave it so.
      signal(SIGCHLD, SIG_IGN);
      TakeDistantPid(50);
      if (killed) kill(getpid(), SIGKILL);
      return 42;
    });
    if (status == kNotPermitted) GTEST_SKIP() << "no PID namespaces here";
    EXPECT_EQ(status, killed ? 128 + SIGKILL : 42);
  }
}

TEST(PidDistanceTest, TheParentPassesSignalsOn) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    const int status = RunAsFirst([&] {
      TakeDistantPid(50);
      const sigset_t signals = Block(signal);
      kill(getppid(), signal);
      int got = 0;
      sigwait(&signals, &got);
      return got;
    });
    if (status == kNotPermitted) GTEST_SKIP() << "no PID namespaces here";
    EXPECT_EQ(status, signal);
  }
}

TEST(PidDistanceTest, TheParentBuriesOrphans) {
  const int status = RunAsFirst([] {
    TakeDistantPid(50);
    const Pipe pids;
    const pid_t child = Start([&] {
      pids.Write(Start([] { return 0; }));
      return 0;
    });
    StatusOf(child);
    const auto orphan = pids.Read<pid_t>();
    for (int i = 0; i < 2000; ++i) {
      if (kill(orphan, 0) != 0) return Check(errno == ESRCH, 1);
      std::this_thread::sleep_for(milliseconds(5));
    }
    return 2;
  });
  if (status == kNotPermitted) GTEST_SKIP() << "no PID namespaces here";
  EXPECT_EQ(status, 0);
}

// In this namespace, where the end of the parent does not take everything with it.
TEST(PidDistanceTest, DiesWithItsParent) {
  // Again while there are too few PIDs before they start over.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Pipe pids;
    const pid_t parent = Start([&] {
      const PidMove move = TakeDistantPid(getpid() + 10, std::chrono::minutes(1));
      pids.Write(move.from == 0 ? 0 : getpid());
      while (move.from != 0) pause();
      return 0;
    });
    pids.CloseWriter();
    const auto child = pids.Read<pid_t>();
    if (child > 0) {
      EXPECT_GT(child, parent + 10 - 1);
      kill(parent, SIGKILL);
    }
    EXPECT_EQ(StatusOf(parent), child > 0 ? 128 + SIGKILL : 0);
    if (child <= 0) continue;
    // Its end of the pipe is closed once it is dead.
    EXPECT_EQ(pids.Read<pid_t>(), -1);
    return;
  }
  FAIL() << "never moved";
}

}  // namespace
}  // namespace gdnplan::test
