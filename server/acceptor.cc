// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

constexpr mode_t kMode = 0660;
// As many as the kernel lets wait.
constexpr int kBacklog = 4096;
// Accepted before it looks whether it is to stop.
constexpr int kAtOnce = 64;
// Until the next try after being held up.
constexpr int kHeldUpMs = 50;

absl::Status Bind(int fd, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  // Before it has a name, so that it is open to others at no time; the umask takes from that, and
  // the second gives it back.
  if (fchmod(fd, kMode) != 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), kMode) != 0 || listen(fd, kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("listen: cannot listen on unix:", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixAcceptor>> UnixAcceptor::Listen(
    const std::vector<std::string>& paths, std::vector<uid_t> allowed, Handlers handlers) {
  std::unique_ptr<UnixAcceptor> acceptor(new UnixAcceptor(std::move(allowed), std::move(handlers)));
  acceptor->stop_ = eventfd(0, EFD_CLOEXEC);
  if (acceptor->stop_ < 0) return absl::ErrnoToStatus(errno, "listen: no eventfd");
  for (const std::string& path : paths) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return absl::ErrnoToStatus(errno, "listen: no socket");
    acceptor->listeners_.push_back(fd);
    GDNPLAN_RETURN_IF_ERROR(Bind(fd, path));
  }
  return acceptor;
}

UnixAcceptor::~UnixAcceptor() {
  Stop();
  if (stop_ >= 0) close(stop_);
}

void UnixAcceptor::Start() {
  thread_ = std::thread([this] { Run(); });
}

void UnixAcceptor::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    static_cast<void>(!write(stop_, &one, sizeof(one)));
    thread_.join();
  }
  for (const int fd : std::exchange(listeners_, {})) close(fd);
}

void UnixAcceptor::Run() {
  std::vector<pollfd> waits = {{.fd = stop_, .events = POLLIN, .revents = 0}};
  for (const int fd : listeners_) waits.push_back({.fd = fd, .events = POLLIN, .revents = 0});
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
    for (const int fd : listeners_) held_up = !Accept(fd) || held_up;
  }
}

bool UnixAcceptor::Accept(int listener) const {
  for (int i = 0; i < kAtOnce; ++i) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      Take(fd);
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      handlers_.held_up(std::strerror(errno));
      return false;
    }
  }
  return true;
}

void UnixAcceptor::Take(int fd) const {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  const Peer peer{.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
  if (known && Allows(peer.uid)) return handlers_.accepted(peer, fd);
  close(fd);
  handlers_.refused(peer);
}

bool UnixAcceptor::Allows(uid_t user) const {
  return allowed_.empty() || user == 0 || user == geteuid() ||
         std::find(allowed_.begin(), allowed_.end(), user) != allowed_.end();
}

}  // namespace gdnplan::server
