// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A gdnplan server: devices, sessions, the service and the addresses it listens on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/fill_mode.h"
#include "server/planner_service.h"
#include "server/session_registry.h"
#include "server/shared_memory.h"
#include "server/unix_socket_claim.h"

namespace gdnplan::server {

struct ServerOptions {
  std::vector<std::string> listen;  // as ListenAddress::Parse takes them; may be empty
  std::string device = "auto";      // as ParseDeviceSelection takes it
  FillMode fill = FillMode::kAuto;  // of GPUs
  int max_sessions = 64;
  int max_message_bytes = 64 << 20;
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
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Health goes off, no session is opened and no RPC accepted any more; those under way have
  // `grace` to finish. Then sessions are closed. Once only.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  Server(const ServerOptions& options, SharedMemory probe, std::shared_ptr<Boot> boot,
         Session::Devices devices);
  absl::Status Listen(const ServerOptions& options);
  void SetHealth(bool serving);

  const SharedMemory probe_;  // holds the boot id
  SessionRegistry registry_;
  PlannerService service_;
  std::vector<UnixSocketClaim> claims_;
  std::vector<std::string> addresses_;
  std::unique_ptr<grpc::Server> server_;  // last: it uses the others
};

}  // namespace gdnplan::server
