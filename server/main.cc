// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "absl/synchronization/mutex.h"
#include "server/device_list.h"
#include "server/library_logs.h"
#include "server/log.h"
#include "server/options.h"
#include "server/pid_distance.h"
#include "server/server.h"
#include "server/supervisor.h"
#include "server/watchdog.h"
#include "settings/process.h"
#include "wire/start_thread.h"

namespace {

using gdnplan::server::Log;
using gdnplan::server::Options;
using gdnplan::server::PidMove;
using gdnplan::server::Server;
using gdnplan::server::Severity;
using gdnplan::server::Supervisor;
using gdnplan::server::Watchdog;

constexpr int kContextLost = 70;  // exit status: start it again

// Blocked in every thread to come, so that only sigwait sees them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, each);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// For requests that come one after the other and are waited for.
void TuneProcess() {
  // Distributions build Abseil such that its mutexes look for deadlocks at every lock, which takes
  // a good part of each of gRPC's steps.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // What a large message took stays for the next one, instead of going back to the kernel and
  // coming again page by page.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

// Connections and sessions take descriptors.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// On a thread of its own. False: the system gives none.
bool Detach(const std::function<void()>& work) {
  absl::StatusOr<std::thread> thread = gdnplan::wire::StartThread(work);
  if (thread.ok()) thread->detach();
  return thread.ok();
}

// Ends the process once the log is written, or without it.
[[noreturn]] void Exit(int status) {
  const auto end = [status] {
    gdnplan::server::StopLog();
    _exit(status);
  };
  if (!Detach(end)) end();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  _exit(status);
}

// No destructor runs: those of sessions wait for a device that does nothing any more. A thread of
// its own lets the one that met the error answer its caller meanwhile.
void EndAfter(const absl::Status& error) {
  const auto end = [text = std::string(error.message())] {
    Log(Severity::kCritical,
        "CUDA does nothing in this process any more, so it ends; its sessions are lost, and "
        "clients open new ones once it was started again",
        {{"reason", text}, {"status", kContextLost}});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Exit(kContextLost);
  };
  if (!Detach(end)) end();
}

void CannotServe(const std::string& reason) {
  Log(Severity::kError, "cannot serve", {{"reason", reason}});
}

int Wait(const sigset_t& signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

// A second signal means now. But one that was sent to this process and to its parent, which passes
// it on, comes twice and is one.
void EndAtSecondSignal(const sigset_t& signals) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const timespec none{};
  while (sigtimedwait(&signals, nullptr, &none) > 0) {
  }
  _exit(128 + Wait(signals));
}

// Before any thread.
PidMove LeaveLowPids(const Options& options) {
  const auto selection = gdnplan::server::ParseDeviceSelection(options.server.device);
  if (!selection.ok() || !MayUseCuda(*selection)) return {};
  return gdnplan::server::TakeDistantPid(options.min_pid);
}

void LogMove(const PidMove& move) {
  if (move.from != 0) {
    Log(Severity::kInfo,
        "a child serves and its parent waits for it: CUDA IPC needs PIDs that differ",
        {{"pid", getpid()}, {"parent", move.from}});
  }
  if (!move.warning.empty()) Log(Severity::kWarn, move.warning);
}

// Nobody, where the environment is no good: serving matters more than saying so.
Supervisor FindSupervisor(const PidMove& move) {
  const absl::StatusOr<Supervisor> supervisor = Supervisor::FromEnvironment(move.from);
  if (supervisor.ok()) return *supervisor;
  Log(Severity::kWarn, "no supervisor is told of anything",
      {{"reason", std::string(supervisor.status().message())}});
  return {};
}

void Tell(const Supervisor& supervisor, const std::string& state) {
  const absl::Status told = supervisor.Tell(state);
  if (!told.ok()) {
    Log(Severity::kWarn, "the supervisor was not told", {{"reason", std::string(told.message())}});
  }
}

// None where the supervisor wants no signs.
std::unique_ptr<Watchdog> StartWatchdog(const Supervisor& supervisor, Server& server) {
  if (supervisor.watchdog().count() == 0) return nullptr;
  return std::make_unique<Watchdog>(
      supervisor.watchdog(),
      Watchdog::Handlers{
          .check =
              [&server](std::chrono::milliseconds limit) { return server.CheckThreads(limit); },
          .alive = [&supervisor] { Tell(supervisor, "WATCHDOG=1"); },
          .hangs =
              [](const absl::Status& why) {
                Log(Severity::kCritical, "no sign of life for the supervisor",
                    {{"reason", std::string(why.message())}});
              }});
}

int Serve(const Options& options, const sigset_t& signals, const Supervisor& supervisor) {
  gdnplan::server::ServerOptions server_options = options.server;
  server_options.on_fatal_error = EndAfter;
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(server_options);
  if (!server.ok()) {
    CannotServe(std::string(server.status().message()));
    return EXIT_FAILURE;
  }
  std::printf("%s\n", (*server)->StartupLine().c_str());
  std::fflush(stdout);
  Tell(supervisor, "READY=1\nSTATUS=" + (*server)->StartupLine());
  std::unique_ptr<Watchdog> watchdog = StartWatchdog(supervisor, **server);
  const int signal = Wait(signals);
  Log(Severity::kInfo, "shutting down", {{"signal", signal}});
  Tell(supervisor, "STOPPING=1");
  watchdog.reset();
  Detach([signals] { EndAtSecondSignal(signals); });
  static_cast<void>((*server)->Shutdown(options.drain));
  // Nothing of it is left outside this process. Destructors would wait: for gRPC, where that did
  // not end, and up to two seconds for the metrics' threads.
  static_cast<void>(server->release());
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  gdnplan::settings::PrepareProcess();
  const std::variant<Options, int> parsed = gdnplan::server::ParseOptions(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const Options& options = std::get<Options>(parsed);
  const sigset_t signals = BlockSignals();
  const PidMove move = LeaveLowPids(options);
  TuneProcess();
  RaiseDescriptorLimit();
  int status = EXIT_FAILURE;
  try {
    gdnplan::server::StartLog(options.log_level, options.log_format);
    gdnplan::server::TakeLibraryLogs();
    LogMove(move);
    status = Serve(options, signals, FindSupervisor(move));
  } catch (const std::exception& error) {  // no thread, no memory
    CannotServe(gdnplan::wire::Explain(error));
  }
  Exit(status);
}
