// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A gRPC server's connections: accepted here, to see who they are and to go on after descriptors
// ran out, and handed to gRPC.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/acceptor.h"
#include "server/listen_address.h"
#include "server/log_limit.h"

namespace gdnplan::server {

class Connections {
 public:
  // Before the server is built. The port of each address, 0 of a Unix socket. Errors as of
  // ListenUnix and ListenTcp.
  absl::StatusOr<std::vector<int>> Listen(const std::vector<ListenAddress>& addresses,
                                          const std::vector<uid_t>& allowed,
                                          std::shared_ptr<grpc::ServerCredentials> tcp_credentials,
                                          grpc::ServerBuilder& builder);
  // Once it was built.
  void Start();
  // Before it shuts down. Connections stay.
  void Stop();

 private:
  using ToGrpc = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;

  void OnAccepted(const Peer& peer, int fd);
  void OnRefused(const Peer& peer);
  void OnHeldUp(const std::string& why);

  ToGrpc from_unix_;
  ToGrpc from_tcp_;
  LogLimit accepted_limit_{10};
  LogLimit refused_limit_{10};
  LogLimit held_up_limit_{1};
  std::unique_ptr<Acceptor> acceptor_;  // last: its thread uses the others
};

}  // namespace gdnplan::server
