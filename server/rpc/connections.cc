// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connections.h"

#include <unistd.h>

#include <utility>

#include "gdnplan/plan/status.h"
#include "server/log.h"

namespace gdnplan::server {

namespace {

void HandOver(grpc::experimental::ExternalConnectionAcceptor& to_grpc, int fd) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = fd;
  to_grpc.HandleNewConnection(&connection);
}

// Closes what nobody took.
class Sockets {
 public:
  ~Sockets() {
    for (const ListeningSocket& socket : list_) close(socket.fd);
  }
  void Add(const ListeningSocket& socket) { list_.push_back(socket); }
  std::vector<ListeningSocket> Take() { return std::exchange(list_, {}); }

 private:
  std::vector<ListeningSocket> list_;
};

}  // namespace

absl::StatusOr<std::vector<int>> Connections::Listen(
    const std::vector<ListenAddress>& addresses, const std::vector<uid_t>& allowed,
    std::shared_ptr<grpc::ServerCredentials> tcp_credentials, grpc::ServerBuilder& builder) {
  if (addresses.empty()) return std::vector<int>();
  Sockets sockets;
  std::vector<int> ports;
  for (const ListenAddress& address : addresses) {
    if (address.is_unix()) {
      GDNPLAN_ASSIGN_OR_RETURN(const ListeningSocket socket, ListenUnix(address.socket_path));
      sockets.Add(socket);
      ports.push_back(0);
      continue;
    }
    GDNPLAN_ASSIGN_OR_RETURN(const TcpSockets tcp, ListenTcp(address.host, address.port));
    for (const ListeningSocket& socket : tcp.sockets) sockets.Add(socket);
    ports.push_back(tcp.port);
  }
  GDNPLAN_ASSIGN_OR_RETURN(
      acceptor_,
      Acceptor::Create(sockets.Take(), allowed,
                       {.accepted = [this](const Peer& peer, int fd) { OnAccepted(peer, fd); },
                        .accepted_tcp = [this](int fd) { HandOver(*from_tcp_, fd); },
                        .refused = [this](const Peer& peer) { OnRefused(peer); },
                        .held_up = [this](const std::string& why) { OnHeldUp(why); }}));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  from_unix_ = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, grpc::InsecureServerCredentials());
  from_tcp_ = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD,
                                                                   std::move(tcp_credentials));
  return ports;
}

void Connections::Start() {
  if (acceptor_ != nullptr) acceptor_->Start();
}

void Connections::Stop() {
  if (acceptor_ != nullptr) acceptor_->Stop();
}

void Connections::OnAccepted(const Peer& peer, int fd) {
  HandOver(*from_unix_, fd);
  if (!Logs(Severity::kDebug)) return;
  Log(Severity::kDebug, accepted_limit_, "process connected",
      {{"pid", peer.pid}, {"uid", peer.uid}, {"gid", peer.gid}});
}

void Connections::OnRefused(const Peer& peer) {
  Log(Severity::kWarn, refused_limit_, "connection refused, for --allow-uid does not name its user",
      {{"pid", peer.pid}, {"uid", peer.uid}, {"gid", peer.gid}});
}

void Connections::OnHeldUp(const std::string& why) {
  Log(Severity::kWarn, held_up_limit_,
      "cannot accept connections; they wait, and it is tried again", {{"reason", why}});
}

}  // namespace gdnplan::server
