// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gdnplan::server {
namespace {

// Accepted before it looks whether it is to stop.
constexpr int kAtOnce = 64;
// Until the next try after being held up.
constexpr int kHeldUpMs = 50;

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Create(std::vector<ListeningSocket> sockets,
                                                           std::vector<uid_t> allowed,
                                                           Handlers handlers) {
  std::unique_ptr<Acceptor> acceptor(
      new Acceptor(std::move(sockets), std::move(allowed), std::move(handlers)));
  acceptor->stop_ = eventfd(0, EFD_CLOEXEC);
  if (acceptor->stop_ < 0) return absl::ErrnoToStatus(errno, "listen: no eventfd");
  return acceptor;
}

Acceptor::~Acceptor() {
  Stop();
  if (stop_ >= 0) close(stop_);
}

void Acceptor::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Acceptor::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    static_cast<void>(!write(stop_, &one, sizeof(one)));
    thread_.join();
  }
  for (const ListeningSocket& socket : std::exchange(sockets_, {})) close(socket.fd);
}

void Acceptor::Run() {
  std::vector<pollfd> waits = {{.fd = stop_, .events = POLLIN, .revents = 0}};
  for (const ListeningSocket& socket : sockets_) {
    waits.push_back({.fd = socket.fd, .events = POLLIN, .revents = 0});
  }
  bool held_up = false;
  while (true) {
    // A connection that cannot be accepted would wake it without end.
    const nfds_t count = held_up ? 1 : waits.size();
    if (poll(waits.data(), count, held_up ? kHeldUpMs : -1) < 0) {
      held_up = errno != EINTR;
      continue;
    }
    if (waits[0].revents != 0) return;
    held_up = false;
    for (const ListeningSocket& socket : sockets_) held_up = !Accept(socket) || held_up;
  }
}

bool Acceptor::Accept(const ListeningSocket& socket) const {
  for (int i = 0; i < kAtOnce; ++i) {
    const int fd = accept4(socket.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      socket.kind == ListeningSocket::Kind::kUnix ? TakeUnix(fd) : handlers_.accepted_tcp(fd);
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      handlers_.held_up(std::strerror(errno));
      return false;
    }
  }
  return true;
}

void Acceptor::TakeUnix(int fd) const {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  const Peer peer{.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
  if (known && Allows(peer.uid)) return handlers_.accepted(peer, fd);
  close(fd);
  handlers_.refused(peer);
}

bool Acceptor::Allows(uid_t user) const {
  return allowed_.empty() || user == 0 || user == geteuid() ||
         std::find(allowed_.begin(), allowed_.end(), user) != allowed_.end();
}

}  // namespace gdnplan::server
