// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A gRPC server's Unix sockets: who connects is looked at and logged, then handed to gRPC.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/log_limit.h"
#include "server/acceptor.h"

namespace gdnplan::server {

class UnixConnections {
 public:
  // See UnixAcceptor. Before the server is built; paths may be empty.
  absl::Status Listen(const std::vector<std::string>& paths, const std::vector<uid_t>& allowed,
                      grpc::ServerBuilder& builder);
  // Once it was built.
  void Start();
  // Before it shuts down. Connections stay.
  void Stop();

 private:
  void OnAccepted(const Peer& peer, int fd);
  void OnRefused(const Peer& peer);
  void OnHeldUp(const std::string& why);

  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> to_grpc_;
  LogLimit accepted_limit_{10};
  LogLimit refused_limit_{10};
  LogLimit held_up_limit_{1};
  uint64_t num_refused_ = 0;
  std::unique_ptr<UnixAcceptor> acceptor_;  // last: its thread uses the others
};

}  // namespace gdnplan::server
