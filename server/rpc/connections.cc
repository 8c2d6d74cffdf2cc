// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <utility>

#include "gdnplan/plan/status.h"
#include "server/rpc/connections.h"

namespace gdnplan::server {

absl::Status UnixConnections::Listen(const std::vector<std::string>& paths,
                                     const std::vector<uid_t>& allowed,
                                     grpc::ServerBuilder& builder) {
  if (paths.empty()) return absl::OkStatus();
  GDNPLAN_ASSIGN_OR_RETURN(
      acceptor_,
      UnixAcceptor::Listen(paths, allowed,
                           {.accepted = [this](const Peer& peer, int fd) { OnAccepted(peer, fd); },
                            .refused = [this](const Peer& peer) { OnRefused(peer); },
                            .held_up = [this](const std::string& why) { OnHeldUp(why); }}));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  to_grpc_ = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, grpc::InsecureServerCredentials());
  return absl::OkStatus();
}

void UnixConnections::Start() {
  if (acceptor_ != nullptr) acceptor_->Start();
}

void UnixConnections::Stop() {
  if (acceptor_ != nullptr) acceptor_->Stop();
}

void UnixConnections::OnAccepted(const Peer& peer, int fd) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = fd;
  to_grpc_->HandleNewConnection(&connection);
  if (!spdlog::should_log(spdlog::level::debug)) return;
  if (const auto left_out = accepted_limit_.Take()) {
    spdlog::debug("process {} of user {}, group {} connected ({} lines left out)", peer.pid,
                  peer.uid, peer.gid, *left_out);
  }
}

void UnixConnections::OnRefused(const Peer& peer) {
  ++num_refused_;
  if (!refused_limit_.Take().has_value()) return;
  spdlog::warn(
      "process {} of user {}, group {} may not connect: --allow-uid does not name its user ({} "
      "refused so far)",
      peer.pid, peer.uid, peer.gid, num_refused_);
}

void UnixConnections::OnHeldUp(const std::string& why) {
  if (!held_up_limit_.Take().has_value()) return;
  spdlog::warn("cannot accept connections: {}; they wait, and it is tried again", why);
}

}  // namespace gdnplan::server
