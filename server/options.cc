// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <CLI/CLI.hpp>
#include <climits>
#include <string>

#include "server/access_flags.h"
#include "server/version.h"
#include "wire/default_address.h"

namespace gdnplan::server {
namespace {

constexpr int kMinMessageBytes = 64 << 10;
constexpr int kMaxMessageBytes = 1 << 30;
// Linux has PIDs up to 32767 everywhere.
constexpr int kMaxMinPid = 30'000;
constexpr int kUsageError = 2;
constexpr char kFooter[] =
    "Exit status: 0 after SIGTERM or SIGINT, 1 if it cannot serve, 2 on wrong usage, 70 when an "
    "error of a GPU has left CUDA unusable in this process: start it again.";

// What needs a look before it becomes an option.
struct Raw {
  int64_t grace_ms = 0;
  std::string fill = "auto";
  std::string poll = "adaptive";
};

FillMode FillModeOf(const std::string& text) {
  if (text == "copy") return FillMode::kCopy;
  return text == "kernel" ? FillMode::kKernel : FillMode::kAuto;
}

PollMode PollModeOf(const std::string& text) {
  if (text == "always") return PollMode::kAlways;
  return text == "never" ? PollMode::kNever : PollMode::kAdaptive;
}

void Describe(CLI::App& app, Options& options, Raw& raw) {
  app.footer(kFooter);
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", std::string("gdnplan-server ") + kVersion);
  app.add_option(
         "--listen", options.server.listen,
         "Address to listen on: unix:PATH, HOST:PORT or [IPV6]:PORT, port 0 for any. May be "
         "given more than once. TCP beyond loopback needs --tls-cert or --insecure")
      ->envname("GDNPLAN_LISTEN")
      ->delimiter(',')
      ->type_name("ADDR");
  DescribeAccess(app, options.server.access);
  app.add_option("--device", options.server.device,
                 "auto (the GPUs, or host where there is none), host, host:N (N devices in plain "
                 "memory, for tests), cuda, or cuda:GPU,... with ordinals or UUIDs")
      ->envname("GDNPLAN_DEVICE")
      ->type_name("DEVICE");
  app.add_option("--fill", raw.fill,
                 "How plans reach a GPU: copy (a copy engine moves them, whatever else the GPU "
                 "does), kernel (for MPS or a GPU of its own), or auto")
      ->envname("GDNPLAN_FILL")
      ->check(CLI::IsMember({"auto", "copy", "kernel"}));
  app.add_option("--min-pid", options.min_pid,
                 "With a GPU: go on in a child process whose PID is at least this and hard to meet "
                 "again, since CUDA IPC fails between containers when server and worker have the "
                 "same PID. 0: never")
      ->envname("GDNPLAN_MIN_PID")
      ->check(CLI::Range(0, kMaxMinPid));
  app.add_option("--poll", raw.poll,
                 "How requests are waited for: always (polls, which takes a core of each thread "
                 "that carries streams and answers soonest), never (sleeps), or adaptive (polls "
                 "between requests that come densely)")
      ->envname("GDNPLAN_POLL")
      ->check(CLI::IsMember({"adaptive", "always", "never"}));
  app.add_option("--rpc-threads", options.server.rpc_threads,
                 "Threads that carry streams. 0: one for every four cores, up to four")
      ->envname("GDNPLAN_RPC_THREADS")
      ->check(CLI::Range(0, 64));
  app.add_option("--max-sessions", options.server.max_sessions, "Sessions open at a time")
      ->envname("GDNPLAN_MAX_SESSIONS")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--max-message-bytes", options.server.max_message_bytes,
                 "Largest request accepted and answer sent")
      ->envname("GDNPLAN_MAX_MESSAGE_BYTES")
      ->check(CLI::Range(kMinMessageBytes, kMaxMessageBytes));
  app.add_option("--shutdown-grace-ms", raw.grace_ms,
                 "Time that requests under way have to finish after SIGTERM or SIGINT")
      ->envname("GDNPLAN_SHUTDOWN_GRACE_MS")
      ->check(CLI::Range(0, INT_MAX));
  app.add_option("--log-level", options.log_level, "Least severity that goes to standard error")
      ->envname("GDNPLAN_LOG_LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
}

}  // namespace

std::variant<Options, int> ParseOptions(int argc, const char* const* argv) {
  CLI::App app(
      "Plans Gated DeltaNet attention: a batch's shape in, its metadata in mapped buffers "
      "out. Prints one line on standard output once it serves.",
      "gdnplan-server");
  Options options;
  options.server.listen = {wire::DefaultAddress()};
  Raw raw;
  raw.grace_ms = options.shutdown_grace.count();
  Describe(app, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  options.server.fill = FillModeOf(raw.fill);
  options.server.poll = PollModeOf(raw.poll);
  options.shutdown_grace = std::chrono::milliseconds(raw.grace_ms);
  return options;
}

}  // namespace gdnplan::server
