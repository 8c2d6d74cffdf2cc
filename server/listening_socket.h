// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Sockets that connections come to. They do not block, and are closed in programs that are
// executed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gdnplan::server {

// Owned by whoever has it.
struct ListeningSocket {
  enum class Kind : uint8_t { kUnix, kTcp };
  Kind kind = Kind::kUnix;
  int fd = -1;
};

// With mode 0660 at the path, whose UnixSocketClaim the caller holds. FailedPrecondition and
// others, with the path.
absl::StatusOr<ListeningSocket> ListenUnix(const std::string& path);

struct TcpSockets {
  std::vector<ListeningSocket> sockets;
  int port = 0;
};
// On every address of this machine that `host` means ([::] is IPv4's too), all on one port; 0: any
// that is free. FailedPrecondition, with host and port: the port is in use, say.
absl::StatusOr<TcpSockets> ListenTcp(const std::string& host, int port);

}  // namespace gdnplan::server
