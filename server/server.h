// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A gdnplan server: devices, sessions, the service and the addresses it listens on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access_options.h"
#include "server/fill_mode.h"
#include "server/metrics/endpoint.h"
#include "server/planner_service.h"
#include "server/rpc/completion_thread.h"
#include "server/rpc/connections.h"
#include "server/rpc/health_service.h"
#include "server/rpc/poll_mode.h"
#include "server/session_log.h"
#include "server/session_registry.h"
#include "server/shared_memory.h"
#include "server/token_file.h"
#include "server/unix_socket_claim.h"

namespace gdnplan::server {

struct ServerOptions {
  std::vector<std::string> listen;  // as ListenAddress::Parse takes them; may be empty
  AccessOptions access;
  std::string device = "auto";      // as ParseDeviceSelection takes it
  FillMode fill = FillMode::kAuto;  // of GPUs
  PollMode poll = PollMode::kAdaptive;
  int rpc_threads = 0;  // that carry streams; 0: as the machine has cores
  Limits limits;
  StreamLimits streams;
  LeaseTimes lease;
  int max_message_bytes = 64 << 20;
  std::string metrics_listen;  // HOST:PORT; empty: no metrics
  std::string trace_file;      // empty: no trace
  // Called once, with health off already, when a device's error means that this process has to end
  // (see FatalError): must not block, nor wait for the server.
  std::function<void(const absl::Status& error)> on_fatal_error;
};

// Serves from Start to Shutdown.
class Server {
 public:
  // InvalidArgument, FailedPrecondition or ResourceExhausted, with what to do about it.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  // The same with devices given.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       std::shared_ptr<Boot> boot,
                                                       Session::Devices devices);
  ~Server();

  // "gdnplan-server 0.1.0 serving on unix:/run/gdnplan/gdnplan.sock, devices: host"
  std::string StartupLine() const;
  // As clients connect to them, in the options' order.
  const std::vector<std::string>& addresses() const { return addresses_; }
  SessionRegistry& registry() { return registry_; }
  // "http://127.0.0.1:9400/metrics", or nothing.
  std::string MetricsUrl() const;
  std::shared_ptr<grpc::Channel> InProcessChannel();
  // Whether it does its work: every thread that RPCs and sessions depend on comes around within the
  // limit, and no GPU is lost. Unavailable names those that do not. Not after Shutdown began.
  absl::Status CheckThreads(std::chrono::milliseconds limit);

  // Health goes off, no session is opened and no RPC accepted any more; those under way have
  // `grace` to finish. Then sessions are closed and sockets removed. Once only. False: gRPC does
  // not let go of a client that takes nothing any more (its process is stopped, say); end the
  // process without destructors then.
  bool Shutdown(std::chrono::milliseconds grace);

 private:
  Server(const ServerOptions& options, std::unique_ptr<TokenFile> tokens, SharedMemory probe,
         std::shared_ptr<Boot> boot, Session::Devices devices);
  absl::Status Listen(const ServerOptions& options);
  // Before the first session.
  absl::Status StartWatching(const ServerOptions& options);
  int num_calls() const;
  // Whether gRPC ended in time.
  bool StopRpcs(std::chrono::milliseconds grace);

  const std::unique_ptr<TokenFile> tokens_;  // none: calls need none
  std::optional<SharedMemory> probe_;        // holds the boot id; until Shutdown
  SessionLog session_log_;
  SessionRegistry registry_;
  PlannerService service_;
  HealthService health_;
  std::unique_ptr<MetricsEndpoint> metrics_;  // may be none
  std::string metrics_host_;
  std::vector<UnixSocketClaim> claims_;
  std::vector<std::string> addresses_;
  // Last, for they use the others; and the threads go after the server.
  CompletionThreads threads_;
  std::unique_ptr<grpc::Server> server_;
  Connections connections_;
};

}  // namespace gdnplan::server
