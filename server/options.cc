// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/status.h"
#include "server/access_flags.h"
#include "server/device_list.h"
#include "server/listen_address.h"
#include "server/metrics/address.h"
#include "server/tcp_credentials.h"
#include "server/unix_socket_claim.h"
#include "server/version.h"
#include "settings/settings.h"
#include "wire/default_address.h"
#include "wire/flag_range.h"

namespace gdnplan::server {
namespace {

using wire::InRange;

constexpr int kMinMessageBytes = 64 << 10;
constexpr int kMaxMessageBytes = 1 << 30;
// Linux has PIDs up to 32767 everywhere.
constexpr int kMaxMinPid = 30'000;
constexpr double kMaxSeconds = 86'400;
// Nobody has as much, and sums of it do not overflow.
constexpr uint64_t kMaxBytes = uint64_t{1} << 60;
constexpr int kUsageError = 2;
constexpr char kFooter[] =
    "Exit status: 0 after SIGTERM, SIGINT or SIGHUP, 1 if it cannot serve, 2 on wrong usage, 70 "
    "when an error of a GPU has left CUDA unusable in this process: start it again.";

// What needs a look before it becomes an option.
struct Raw {
  double lease_s = 0;
  double grace_s = 0;
  double drain_s = 0;
  std::string fill = "auto";
  std::string poll = "adaptive";
  std::string log_format = "text";
};

double Seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

FillMode FillModeOf(const std::string& text) {
  if (text == "copy") return FillMode::kCopy;
  return text == "kernel" ? FillMode::kKernel : FillMode::kAuto;
}

PollMode PollModeOf(const std::string& text) {
  if (text == "always") return PollMode::kAlways;
  return text == "never" ? PollMode::kNever : PollMode::kAdaptive;
}

// What the function takes. CLI11 names the flag, so that its field's name in front can go.
template <typename T>
CLI::Validator Parses(absl::StatusOr<T> (*parse)(std::string_view text)) {
  return CLI::Validator(
      [parse](std::string& text) {
        const absl::Status status = parse(text).status();
        const std::string message(status.message());
        return status.ok() ? message : message.substr(message.find(": ") + 2);
      },
      "");
}

void DescribeLeases(CLI::App& app, Raw& raw) {
  app.add_option("--lease", raw.lease_s,
                 "Seconds that a session outlives its owner's last sign (a use, a heartbeat, an "
                 "open stream). 0: for ever")
      ->envname("GDNPLAN_LEASE")
      ->check(InRange(0.0, kMaxSeconds));
  app.add_option("--grace", raw.grace_s,
                 "Seconds that an owner whose stream broke has to come back, and that attached "
                 "processes have to let go of an ended session's memory")
      ->envname("GDNPLAN_GRACE")
      ->check(InRange(0.0, kMaxSeconds));
}

void DescribeLimits(CLI::App& app, ServerOptions& options) {
  Limits& limits = options.limits;
  app.add_option("--max-sessions", limits.max_sessions, "Sessions open at a time")
      ->envname("GDNPLAN_MAX_SESSIONS")
      ->check(InRange(1, 100'000));
  app.add_option("--max-num-seqs", limits.max_num_seqs, "Rows that a session may ask for")
      ->envname("GDNPLAN_MAX_NUM_SEQS")
      ->check(InRange(1, plan::kMaxNumSeqs));
  app.add_option("--max-num-batched-tokens", limits.max_num_batched_tokens,
                 "Query tokens of a batch that a session may ask for")
      ->envname("GDNPLAN_MAX_NUM_BATCHED_TOKENS")
      ->check(InRange(1, plan::kMaxNumBatchedTokens));
  app.add_option("--max-groups", limits.max_groups, "KV-cache groups of a session")
      ->envname("GDNPLAN_MAX_GROUPS")
      ->check(InRange(1, plan::kMaxGroups));
  app.add_option("--max-slots", limits.max_slots, "Slots of a session")
      ->envname("GDNPLAN_MAX_SLOTS")
      ->check(InRange(1, plan::kMaxSlots));
  app.add_option("--max-session-bytes", limits.max_session_bytes,
                 "Bytes of a session on each of its devices. 0: what the device has")
      ->envname("GDNPLAN_MAX_SESSION_BYTES")
      ->check(InRange(uint64_t{0}, kMaxBytes));
  app.add_option("--max-device-bytes", limits.max_device_bytes,
                 "Bytes of all sessions on one device. 0: what the device has")
      ->envname("GDNPLAN_MAX_DEVICE_BYTES")
      ->check(InRange(uint64_t{0}, kMaxBytes));
  app.add_option("--max-followers", limits.max_followers, "WatchPlans calls of a session")
      ->envname("GDNPLAN_MAX_FOLLOWERS")
      ->check(InRange(1, 100'000));
  app.add_option("--max-streams", options.streams.max_streams,
                 "PlanStream calls at a time, of all clients")
      ->envname("GDNPLAN_MAX_STREAMS")
      ->check(InRange(1, 100'000));
  app.add_option("--max-plans-in-flight", options.streams.max_plans_in_flight,
                 "Requests of a stream that are read before the first of them is answered")
      ->envname("GDNPLAN_MAX_PLANS_IN_FLIGHT")
      ->check(InRange(size_t{1}, StreamLimits::kMaxPlansInFlight));
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
      ->check(Parses(ListenAddress::Parse))
      ->type_name("ADDR");
  DescribeAccess(app, options.server.access);
  app.add_option("--device", options.server.device,
                 "auto (the GPUs, or host where there is none), host, host:N (N devices in plain "
                 "memory, for tests), cuda, or cuda:GPU,... with ordinals or UUIDs")
      ->envname("GDNPLAN_DEVICE")
      ->check(Parses(ParseDeviceSelection))
      ->type_name("DEVICE");
  app.add_option("--fill", raw.fill,
                 "How plans reach a GPU: copy (a copy engine moves them, whatever else the GPU "
                 "does), kernel (for MPS or a GPU of its own), or auto")
      ->envname("GDNPLAN_FILL")
      ->check(wire::OneOf({"auto", "copy", "kernel"}));
  app.add_option("--min-pid", options.min_pid,
                 "With a GPU: go on in a child process whose PID is at least this and hard to meet "
                 "again, since CUDA IPC fails between containers when server and worker have the "
                 "same PID. 0: never")
      ->envname("GDNPLAN_MIN_PID")
      ->check(InRange(0, kMaxMinPid));
  app.add_option("--poll", raw.poll,
                 "How requests are waited for: always (polls, which takes a core of each thread "
                 "that carries streams and answers soonest), never (sleeps), or adaptive (polls "
                 "between requests that come densely)")
      ->envname("GDNPLAN_POLL")
      ->check(wire::OneOf({"adaptive", "always", "never"}));
  app.add_option("--rpc-threads", options.server.rpc_threads,
                 "Threads that carry streams. 0: one for every four cores, up to four")
      ->envname("GDNPLAN_RPC_THREADS")
      ->check(InRange(0, 64));
  app.add_option("--max-message-bytes", options.server.max_message_bytes,
                 "Largest request accepted and answer sent")
      ->envname("GDNPLAN_MAX_MESSAGE_BYTES")
      ->check(InRange(kMinMessageBytes, kMaxMessageBytes));
  app.add_option("--drain", raw.drain_s,
                 "Seconds that requests under way have to finish after SIGTERM, SIGINT or SIGHUP; "
                 "a second signal ends at once")
      ->envname("GDNPLAN_DRAIN")
      ->check(InRange(0.0, kMaxSeconds));
  DescribeLimits(app, options.server);
  DescribeLeases(app, raw);
  app.add_option(
         "--metrics-listen", options.server.metrics_listen,
         "HOST:PORT, over IPv4, where Prometheus fetches http://HOST:PORT/metrics, port 0 for any. "
         "None: no metrics")
      ->envname("GDNPLAN_METRICS_LISTEN")
      ->check(Parses(ParseMetricsAddress))
      ->type_name("ADDR");
  app.add_option("--trace-file", options.server.trace_file,
                 "File of every call's stages, for ui.perfetto.dev or chrome://tracing; it ends at "
                 "1 GiB")
      ->envname("GDNPLAN_TRACE_FILE")
      ->type_name("FILE");
  app.add_option("--log-level", options.log_level, "Least severity that goes to standard error")
      ->envname("GDNPLAN_LOG_LEVEL")
      ->check(wire::OneOf({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--log-format", raw.log_format,
                 "text, or json: an object a line with time, level, event and the event's fields")
      ->envname("GDNPLAN_LOG_FORMAT")
      ->check(wire::OneOf({"text", "json"}));
}

// A trace in the place of what is read would lose it, and in that of what the server says, both.
absl::Status CheckTraceFile(const ServerOptions& options,
                            const std::vector<ListenAddress>& addresses,
                            const std::string& config_path) {
  if (options.trace_file.empty()) return absl::OkStatus();
  const auto refuse = [&options](const std::string& reason) {
    return plan::InvalidField("--trace-file",
                              absl::StrCat(options.trace_file, " is ", reason, "; give another"));
  };
  const std::pair<const char*, const std::string*> inputs[] = {
      {"--config", &config_path},
      {"--token-file", &options.access.token_file},
      {"--tls-cert", &options.access.tls_cert},
      {"--tls-key", &options.access.tls_key},
      {"--tls-client-ca", &options.access.tls_client_ca}};
  for (const auto& [flag, path] : inputs) {
    std::error_code missing;  // then they are two
    if (!std::filesystem::equivalent(options.trace_file, *path, missing)) continue;
    return refuse(absl::StrCat("the file of ", flag, ", which is read"));
  }
  const auto resolved = [](const std::string& path) {
    std::error_code error;  // then the paths differ, or opening says what is wrong
    return std::filesystem::weakly_canonical(path, error);
  };
  for (const ListenAddress& address : addresses) {
    if (!address.is_unix()) continue;
    // It need not be there yet.
    if (resolved(options.trace_file) == resolved(UnixSocketClaim::LockPath(address.socket_path))) {
      return refuse(absl::StrCat("the lock of ", address.socket_path));
    }
  }
  for (const char* output : {"/dev/stdout", "/dev/stderr"}) {
    std::error_code missing;
    if (!std::filesystem::equivalent(options.trace_file, output, missing) ||
        !std::filesystem::is_regular_file(options.trace_file, missing)) {
      continue;
    }
    return refuse(absl::StrCat("where ", output, " goes, which has lines of its own"));
  }
  return absl::OkStatus();
}

absl::Status CheckTogether(const ServerOptions& options, const std::string& config_path) {
  std::vector<ListenAddress> addresses;
  std::set<std::string> targets;
  for (const std::string& text : options.listen) {
    GDNPLAN_ASSIGN_OR_RETURN(addresses.emplace_back(), ListenAddress::Parse(text));
    const ListenAddress& address = addresses.back();
    if ((address.is_unix() || address.port != 0) && !targets.insert(address.target()).second) {
      return plan::InvalidField("--listen", absl::StrCat(text, " is given twice; give it once"));
    }
  }
  GDNPLAN_RETURN_IF_ERROR(CheckTraceFile(options, addresses, config_path));
  return CheckAccess(options.access, addresses);
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
  raw.lease_s = Seconds(options.server.lease.length);
  raw.grace_s = Seconds(options.server.lease.grace);
  raw.drain_s = Seconds(options.drain);
  Describe(app, options, raw);
  settings::Settings settings(app, "GDNPLAN_CONFIG");
  const absl::StatusOr<settings::Settings::Next> next = settings.Parse(argc, argv);
  const bool serve = next.ok() && *next != settings::Settings::Next::kExit;
  const absl::Status status =
      serve ? CheckTogether(options.server, settings.path()) : next.status();
  if (!status.ok()) {
    const bool usage = absl::IsInvalidArgument(status);
    std::cerr << "gdnplan-server: " << status.message()
              << (usage ? "; see gdnplan-server --help\n" : "\n");
    return usage ? kUsageError : EXIT_FAILURE;
  }
  if (!serve) return 0;
  options.server.fill = FillModeOf(raw.fill);
  options.server.poll = PollModeOf(raw.poll);
  options.server.lease = {Milliseconds(raw.lease_s), Milliseconds(raw.grace_s)};
  options.drain = Milliseconds(raw.drain_s);
  options.log_format = raw.log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  return options;
}

}  // namespace gdnplan::server
