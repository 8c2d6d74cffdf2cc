// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/notify_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>

namespace gdnplan::test {

NotifySocket::NotifySocket(bool abstract) {
  static std::atomic<int> number{0};
  const std::string name =
      "gdnplan-notify-" + std::to_string(getpid()) + "-" + std::to_string(++number);
  address_ = abstract ? "@" + name : (std::filesystem::temp_directory_path() / name).string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  address_.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (abstract) address.sun_path[0] = '\0';
  fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) != 0) std::abort();
}

NotifySocket::~NotifySocket() {
  close(fd_);
  if (address_[0] == '/') unlink(address_.c_str());
}

std::string NotifySocket::Receive(std::chrono::milliseconds timeout) const {
  pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
  char text[4096];
  if (poll(&ready, 1, static_cast<int>(timeout.count())) <= 0) return {};
  const ssize_t got = recv(fd_, text, sizeof(text), 0);
  return got < 0 ? std::string() : std::string(text, static_cast<size_t>(got));
}

}  // namespace gdnplan::test
