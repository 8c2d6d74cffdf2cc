// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Unix sockets, accepted on by this process itself to see who connects, and by a thread that goes
// on after it ran out of descriptors. gRPC does neither.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace gdnplan::server {

// The process that connected, by the kernel's word (SO_PEERCRED), as it was then.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

class UnixAcceptor {
 public:
  // On the acceptor's thread, which they keep from accepting.
  struct Handlers {
    // Owns the descriptor, which does not block and is closed in programs that are executed.
    std::function<void(const Peer& peer, int fd)> accepted;
    // Its connection is closed.
    std::function<void(const Peer& peer)> refused;
    // Nothing can be accepted just now: connections wait, and accepting is tried again and again.
    std::function<void(const std::string& why)> held_up;
  };

  // Listens with mode 0660 on each path, whose UnixSocketClaim the caller holds; connections wait
  // until Start. allowed: users that may connect beside root and this process's own; empty:
  // whoever may write to the socket. FailedPrecondition and others, with the path.
  static absl::StatusOr<std::unique_ptr<UnixAcceptor>> Listen(const std::vector<std::string>& paths,
                                                              std::vector<uid_t> allowed,
                                                              Handlers handlers);
  ~UnixAcceptor();

  void Start();
  // No handler is called any more, and who connects is refused by the kernel.
  void Stop();

 private:
  UnixAcceptor(std::vector<uid_t> allowed, Handlers handlers)
      : allowed_(std::move(allowed)), handlers_(std::move(handlers)) {}

  void Run();
  // False: it was held up.
  bool Accept(int listener) const;
  void Take(int fd) const;
  bool Allows(uid_t user) const;

  const std::vector<uid_t> allowed_;
  const Handlers handlers_;
  int stop_ = -1;  // an eventfd
  std::vector<int> listeners_;
  std::thread thread_;
};

}  // namespace gdnplan::server
