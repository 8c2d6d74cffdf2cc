// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "server/options.h"
#include "server/server.h"

namespace {

using gdnplan::server::Options;
using gdnplan::server::Server;

// Blocked in every thread to come, so that only sigwait sees them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Connections and sessions take descriptors, and gRPC does not accept again once they ran out.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// A thread of its own writes the log, and drops the oldest lines when standard error takes none:
// whoever does not read it must not stop the server.
void StartLog(const std::string& level) {
  spdlog::init_thread_pool(8192, 1);
  spdlog::set_default_logger(
      spdlog::create_async_nb<spdlog::sinks::stderr_sink_mt>("gdnplan-server"));
  spdlog::set_level(spdlog::level::from_str(level));
}

// Ends the process once the log is written, or without it.
[[noreturn]] void Exit(int status) {
  std::thread([status] {
    spdlog::shutdown();
    _exit(status);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  _exit(status);
}

int Wait(const sigset_t& signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

int Serve(const Options& options, const sigset_t& signals) {
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options.server);
  if (!server.ok()) {
    spdlog::error("{}", std::string(server.status().message()));
    return EXIT_FAILURE;
  }
  std::printf("%s\n", (*server)->StartupLine().c_str());
  std::fflush(stdout);
  spdlog::info("signal {}: shutting down", Wait(signals));
  // A second one means now.
  std::thread([signals] { _exit(128 + Wait(signals)); }).detach();
  (*server)->Shutdown(options.shutdown_grace);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::variant<Options, int> parsed = gdnplan::server::ParseOptions(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const Options& options = std::get<Options>(parsed);
  const sigset_t signals = BlockSignals();
  RaiseDescriptorLimit();
  StartLog(options.log_level);
  Exit(Serve(options, signals));
}
