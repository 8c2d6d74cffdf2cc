// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/listening_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

constexpr mode_t kMode = 0660;
// As many as the kernel lets wait.
constexpr int kBacklog = 4096;
constexpr int kOn = 1;
constexpr int kOff = 0;
// What was sent and not acknowledged so long ends a connection: its peer is gone.
constexpr unsigned kUserTimeoutMs = 10'000;
// Of any free port, where the one that one address got is in use at another.
constexpr int kAttempts = 16;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  int family() const { return bytes.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  bool operator==(const Address& other) const {
    return size == other.size && std::memcmp(&bytes, &other.bytes, size) == 0;
  }
};

absl::Status CannotListen(const std::string& host, int port, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("listen: cannot listen on ", host, ":", port,
                                                    ": ", why,
                                                    "; is the port in use, or the host not this "
                                                    "machine's?"));
}

absl::StatusOr<std::vector<Address>> Resolve(const std::string& host, int port) {
  std::string name = host;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) return CannotListen(host, port, gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address;
    address.size = entry->ai_addrlen;
    std::memcpy(&address.bytes, entry->ai_addr, entry->ai_addrlen);
    // A file of hosts may name one twice.
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(address);
    }
  }
  return addresses;
}

void SetPort(Address& address, int port) {
  const in_port_t number = htons(static_cast<in_port_t>(port));
  if (address.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address.bytes)->sin6_port = number;
  } else {
    reinterpret_cast<sockaddr_in*>(&address.bytes)->sin_port = number;
  }
}

int PortOf(int fd) {
  Address address;
  address.size = sizeof(address.bytes);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) != 0) return 0;
  return ntohs(address.family() == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

// The descriptor, or -errno.
int Listen(const Address& address) {
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  // Connections have them from their listener. The first lets a server follow on one whose
  // connections still time out.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof(kOn));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof(kUserTimeoutMs));
  if (address.family() == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &kOff, sizeof(kOff));
  }
  if (bind(fd, address.get(), address.size) == 0 && listen(fd, kBacklog) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

// A machine without IPv6 has names that mean an address of it.
bool IsNotHere(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

// Where one address's port is in use at another, `error` is EADDRINUSE.
TcpSockets ListenOnAll(std::vector<Address>& addresses, int port, int& error) {
  TcpSockets result{.sockets = {}, .port = port};
  error = 0;
  for (Address& address : addresses) {
    SetPort(address, result.port);
    const int fd = Listen(address);
    if (fd >= 0) {
      result.sockets.push_back({.kind = ListeningSocket::Kind::kTcp, .fd = fd});
      result.port = PortOf(fd);
    } else if (!IsNotHere(-fd) || (addresses.size() == 1)) {
      error = -fd;
      break;
    }
  }
  if (error == 0 && result.sockets.empty()) error = EADDRNOTAVAIL;
  if (error == 0) return result;
  for (const ListeningSocket& socket : result.sockets) close(socket.fd);
  return {};
}

}  // namespace

absl::StatusOr<ListeningSocket> ListenUnix(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "listen: no socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  // Before it has a name, so that it is open to others at no time; the umask takes from that, and
  // the second gives it back.
  if (fchmod(fd, kMode) == 0 &&
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      chmod(path.c_str(), kMode) == 0 && listen(fd, kBacklog) == 0) {
    return ListeningSocket{.kind = ListeningSocket::Kind::kUnix, .fd = fd};
  }
  const int error = errno;
  close(fd);
  return absl::ErrnoToStatus(error, absl::StrCat("listen: cannot listen on unix:", path));
}

absl::StatusOr<TcpSockets> ListenTcp(const std::string& host, int port) {
  GDNPLAN_ASSIGN_OR_RETURN(std::vector<Address> addresses, Resolve(host, port));
  int error = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    TcpSockets sockets = ListenOnAll(addresses, port, error);
    if (error == 0) return sockets;
    if (error != EADDRINUSE || port != 0) break;
  }
  return CannotListen(host, port, std::strerror(error));
}

}  // namespace gdnplan::server
