// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

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
  spdlog::set_default_logger(spdlog::stderr_logger_mt("gdnplan-server"));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  return Serve(options, signals);
}
