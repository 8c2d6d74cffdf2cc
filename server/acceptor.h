// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Accepts connections by a thread that goes on after the process ran out of descriptors, and sees
// who connects to a Unix socket. gRPC does neither.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/listening_socket.h"

namespace gdnplan::server {

// The process that connected, by the kernel's word (SO_PEERCRED), as it was then.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

class Acceptor {
 public:
  // On the acceptor's thread, which they keep from accepting.
  struct Handlers {
    // Own the descriptor, which does not block and is closed in programs that are executed.
    std::function<void(const Peer& peer, int fd)> accepted;
    std::function<void(int fd)> accepted_tcp;
    // Its connection is closed.
    std::function<void(const Peer& peer)> refused;
    // Nothing can be accepted just now: connections wait, and accepting is tried again and again.
    std::function<void(const std::string& why)> held_up;
  };

  // Takes the sockets; connections wait until Start. allowed: users that may connect to Unix
  // sockets beside root and this process's own; empty: whoever may write to the socket.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Create(std::vector<ListeningSocket> sockets,
                                                          std::vector<uid_t> allowed,
                                                          Handlers handlers);
  ~Acceptor();

  void Start();
  // No handler is called any more, and who connects is refused by the kernel.
  void Stop();

 private:
  Acceptor(std::vector<ListeningSocket> sockets, std::vector<uid_t> allowed, Handlers handlers)
      : allowed_(std::move(allowed)),
        handlers_(std::move(handlers)),
        sockets_(std::move(sockets)) {}

  void Run();
  // False: it was held up.
  bool Accept(const ListeningSocket& socket) const;
  void TakeUnix(int fd) const;
  bool Allows(uid_t user) const;

  const std::vector<uid_t> allowed_;
  const Handlers handlers_;
  int stop_ = -1;  // an eventfd
  std::vector<ListeningSocket> sockets_;
  std::thread thread_;
};

}  // namespace gdnplan::server
