// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/plan/status.h"
#include "server/device_list.h"
#include "server/listen_address.h"
#include "server/log.h"
#include "server/metrics/collector.h"
#include "server/roll_call.h"
#include "server/shared_memory.h"
#include "server/tcp_credentials.h"
#include "server/version.h"
#include "wire/deadline.h"
#include "wire/start_thread.h"
#include "wire/transport.h"

namespace gdnplan::server {
namespace {

// The standard services but health. They are asked for before a builder is made, once in a process.
void AddStandardServices() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::channelz::experimental::InitChannelzService();
  });
}

void SetArguments(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  builder.SetMaxSendMessageSize(options.max_message_bytes);
  wire::TuneTransport(
      [&builder](const char* name, int value) { builder.AddChannelArgument(name, value); });
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0);  // answers are small
  // Clients ping idle connections to notice a server that is gone; gRPC's default is to hang up on
  // those that do so more often than every five minutes.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // And the server notices clients that are gone.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
}

// More threads carry more streams, and one core each is theirs while they poll.
int RpcThreads(const ServerOptions& options) {
  if (options.rpc_threads > 0) return options.rpc_threads;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 4, 1, 4);
}

// Who can open it shares /dev/shm with this server.
absl::StatusOr<SharedMemory> MakeProbe(const Boot& boot) {
  const std::string& text = boot.hex();
  GDNPLAN_ASSIGN_OR_RETURN(
      SharedMemory probe,
      SharedMemory::Create(absl::StrCat("/gdnplan-", text, "-probe"), text.size()));
  std::memcpy(probe.data(), text.data(), text.size());
  return probe;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  GDNPLAN_ASSIGN_OR_RETURN(DeviceSelection selection, ParseDeviceSelection(options.device));
  selection.fill = options.fill;
  GDNPLAN_ASSIGN_OR_RETURN(std::shared_ptr<Boot> boot, Boot::Create());
  GDNPLAN_ASSIGN_OR_RETURN(DeviceList list, OpenDevices(selection, boot));
  if (!list.note.empty()) Log(Severity::kWarn, "no GPU is used", {{"reason", list.note}});
  for (const std::shared_ptr<Device>& device : list.devices) {
    const DeviceInfo info = device->info();
    if (!info.fill_mode.has_value()) continue;
    Log(Severity::kInfo, "device",
        {{"device", info.id}, {"name", info.name}, {"fill", Explain(*info.fill_mode, info.mps)}});
  }
  return Start(options, std::move(boot), std::move(list.devices));
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      std::shared_ptr<Boot> boot,
                                                      Session::Devices devices) {
  std::unique_ptr<TokenFile> tokens;
  if (!options.access.token_file.empty()) {
    GDNPLAN_ASSIGN_OR_RETURN(tokens, TokenFile::Open(options.access.token_file));
  }
  GDNPLAN_ASSIGN_OR_RETURN(SharedMemory probe, MakeProbe(*boot));
  std::unique_ptr<Server> server(new Server(options, std::move(tokens), std::move(probe),
                                            std::move(boot), std::move(devices)));
  // Before clients come.
  server->registry_.recorder().SetOnRefusal(
      [log = &server->session_log_](const absl::Status& status, uint64_t session) {
        log->Refused(status, session);
      });
  GDNPLAN_RETURN_IF_ERROR(server->StartWatching(options));
  GDNPLAN_RETURN_IF_ERROR(server->Listen(options));
  server->health_.SetServing(true);
  server->registry_.fatal_error().SetHandler(
      [raw = server.get(), handler = options.on_fatal_error](const absl::Status& error) {
        raw->health_.SetServing(false);
        if (handler) handler(error);
      });
  return server;
}

Server::Server(const ServerOptions& options, std::unique_ptr<TokenFile> tokens, SharedMemory probe,
               std::shared_ptr<Boot> boot, Session::Devices devices)
    : tokens_(std::move(tokens)),
      probe_(std::move(probe)),
      registry_(std::move(boot), std::move(devices), options.limits, options.lease,
                [this](const Session& session) { session_log_.Lapsed(session); }),
      service_(registry_, session_log_,
               {.max_message_bytes = static_cast<uint32_t>(options.max_message_bytes),
                .host_page_probe = probe_->name(),
                .poll = options.poll,
                .streams = options.streams,
                .tokens = tokens_.get()}),
      health_({std::string(v1::Planner::service_full_name())}) {}

Server::~Server() {
  if (server_ != nullptr) Shutdown(std::chrono::milliseconds(0));
}

absl::Status Server::StartWatching(const ServerOptions& options) {
  std::shared_ptr<PlanTrace> trace;
  if (!options.trace_file.empty()) {
    GDNPLAN_ASSIGN_OR_RETURN(trace,
                             PlanTrace::Create(options.trace_file, {}, [](const absl::Status& why) {
                               Log(Severity::kWarn, "no more calls go to the trace",
                                   {{"reason", std::string(why.message())}});
                             }));
    registry_.recorder().SetTrace(trace);
  }
  if (options.metrics_listen.empty()) return absl::OkStatus();
  GDNPLAN_ASSIGN_OR_RETURN(
      metrics_, MetricsEndpoint::Open(options.metrics_listen,
                                      std::make_shared<MetricsCollector>(
                                          registry_, [this] { return health_.serving(); }, trace)));
  metrics_host_ = options.metrics_listen.substr(0, options.metrics_listen.rfind(':'));
  return absl::OkStatus();
}

std::string Server::MetricsUrl() const {
  if (metrics_ == nullptr) return "";
  return absl::StrCat("http://", metrics_host_, ":", metrics_->port(), "/metrics");
}

absl::Status Server::Listen(const ServerOptions& options) {
  std::vector<ListenAddress> addresses;
  for (const std::string& text : options.listen) {
    GDNPLAN_ASSIGN_OR_RETURN(addresses.emplace_back(), ListenAddress::Parse(text));
    if (!addresses.back().is_unix()) continue;
    GDNPLAN_ASSIGN_OR_RETURN(UnixSocketClaim claim,
                             UnixSocketClaim::Take(addresses.back().socket_path));
    claims_.push_back(std::move(claim));
  }
  GDNPLAN_ASSIGN_OR_RETURN(const auto tcp_credentials, TcpCredentials(options.access, addresses));
  if (!options.access.tls_cert.empty() && claims_.size() == addresses.size()) {
    Log(Severity::kWarn,
        "--tls-cert: not used, for TLS is of TCP and all addresses are Unix sockets");
  }
  if (const int removed = RemoveAbandonedSharedMemory("gdnplan-"); removed > 0) {
    Log(Severity::kWarn, "removed shared memory that servers left behind", {{"objects", removed}});
  }

  // gRPC asks nobody for a token who calls its own.
  if (tokens_ == nullptr) AddStandardServices();
  grpc::ServerBuilder builder;
  SetArguments(options, builder);
  builder.RegisterService(&service_.service());
  builder.RegisterService(&health_.service());
  for (int i = 0; i < RpcThreads(options); ++i) {
    threads_.push_back(std::make_unique<CompletionThread>(builder.AddCompletionQueue(),
                                                          options.poll, /*always_on=*/i == 0));
  }
  GDNPLAN_ASSIGN_OR_RETURN(
      const std::vector<int> ports,
      connections_.Listen(addresses, options.access.allowed_users, tcp_credentials, builder));
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("listen: gRPC does not start");
  for (size_t i = 0; i < addresses.size(); ++i) {
    addresses_.push_back(addresses[i].ToString(ports[i]));
  }
  service_.Serve(threads_);
  health_.Serve(*threads_.front());
  for (const auto& thread : threads_) thread->Start();
  connections_.Start();
  return absl::OkStatus();
}

std::string Server::StartupLine() const {
  const std::string devices =
      absl::StrJoin(registry_.devices(), ", ",
                    [](std::string* out, const auto& device) { *out += device->info().id; });
  return absl::StrCat("gdnplan-server ", kVersion, " serving on ", absl::StrJoin(addresses_, ", "),
                      ", devices: ", devices,
                      metrics_ == nullptr ? "" : absl::StrCat(", metrics: ", MetricsUrl()));
}

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

absl::Status Server::CheckThreads(std::chrono::milliseconds limit) {
  GDNPLAN_RETURN_IF_ERROR(registry_.fatal_error().error());
  RollCall roll;
  for (size_t i = 0; i < threads_.size(); ++i) {
    threads_[i]->Ping(roll.Expect(absl::StrCat("RPC thread ", i)));
  }
  registry_.Ping(roll.Expect("the thread of waiting plans"));
  const std::vector<std::string> missing = roll.Missing(limit);
  if (missing.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("no sign within ", limit.count(), " ms of ", absl::StrJoin(missing, ", ")));
}

int Server::num_calls() const {
  int calls = 0;
  for (const auto& thread : threads_) calls += thread->num_calls();
  return calls;
}

bool Server::StopRpcs(std::chrono::milliseconds grace) {
  using Clock = std::chrono::steady_clock;
  // What gRPC takes to end cancelled calls, and no longer: while a write to a client's full socket
  // is under way it waits without end.
  constexpr std::chrono::seconds kCancel{1};
  auto done = std::make_shared<std::atomic<bool>>(false);
  const auto close = [server = server_.get(), grace, done] {
    server->Shutdown(wire::DeadlineIn(grace));
    *done = true;
  };
  absl::StatusOr<std::thread> closer = wire::StartThread(close);
  if (!closer.ok()) {
    close();
    return true;
  }
  const Clock::time_point end = Clock::now() + grace + kCancel;
  while (!*done && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // With no call under way it would still wait for its clients to say goodbye, and idle ones do
    // not.
    if (num_calls() == 0) grpc_server_cancel_all_calls(server_->c_server());
  }
  if (!*done) {
    closer->detach();
    return false;
  }
  closer->join();
  return true;
}

bool Server::Shutdown(std::chrono::milliseconds grace) {
  health_.SetServing(false);
  registry_.StopOpening();
  service_.StopStreams();
  health_.Stop();
  connections_.Stop();
  const bool ended = StopRpcs(grace);
  registry_.CloseAll();
  registry_.fatal_error().SetHandler(nullptr);
  if (ended) {
    for (const auto& thread : threads_) thread->Stop();
    server_.reset();
    registry_.recorder().SetTrace(nullptr);  // its file ends as it should
  } else {
    Log(Severity::kWarn,
        "a client does not take its answers: its connection is left to the system");
    // The thread that still waits uses it.
    static_cast<void>(server_.release());
  }
  claims_.clear();
  probe_.reset();
  return ended;
}

}  // namespace gdnplan::server
