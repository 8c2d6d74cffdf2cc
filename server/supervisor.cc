// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/supervisor.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

absl::StatusOr<int64_t> Number(const char* name, const std::string& text) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number > 0) return number;
  return plan::InvalidField(name, absl::StrCat("must be a number above 0 (got ", text, ")"));
}

}  // namespace

absl::StatusOr<Supervisor> Supervisor::FromEnvironment(pid_t parent) {
  Supervisor supervisor;
  supervisor.socket_ = Variable("NOTIFY_SOCKET");
  std::string& socket = supervisor.socket_;
  if (socket.empty()) return supervisor;
  if ((socket[0] != '/' && socket[0] != '@') || socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return plan::InvalidField(
        "NOTIFY_SOCKET",
        absl::StrCat("must be a Unix socket's path, or @ and an abstract name (got ", socket, ")"));
  }
  if (socket[0] == '@') socket[0] = '\0';
  const std::string interval = Variable("WATCHDOG_USEC");
  if (interval.empty()) return supervisor;
  const std::string pid = Variable("WATCHDOG_PID");
  if (!pid.empty()) {
    GDNPLAN_ASSIGN_OR_RETURN(const int64_t meant, Number("WATCHDOG_PID", pid));
    if (meant != getpid() && meant != parent) return supervisor;
  }
  GDNPLAN_ASSIGN_OR_RETURN(const int64_t microseconds, Number("WATCHDOG_USEC", interval));
  supervisor.watchdog_ = std::chrono::microseconds(microseconds);
  return supervisor;
}

absl::Status Supervisor::Tell(std::string_view state) const {
  if (!there()) return absl::OkStatus();
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "NOTIFY_SOCKET: no socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(socket_.begin(), socket_.end(), address.sun_path);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  const ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), length);
  const int error = errno;
  close(fd);
  if (sent == static_cast<ssize_t>(state.size())) return absl::OkStatus();
  return absl::ErrnoToStatus(error, "NOTIFY_SOCKET: it takes nothing");
}

}  // namespace gdnplan::server
