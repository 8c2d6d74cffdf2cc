// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The socket that a supervisor listens on, as systemd does.
#pragma once

#include <chrono>
#include <string>

namespace gdnplan::test {

class NotifySocket {
 public:
  explicit NotifySocket(bool abstract = false);
  ~NotifySocket();
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // What NOTIFY_SOCKET is set to.
  const std::string& address() const { return address_; }
  // The next datagram; empty: none came.
  std::string Receive(std::chrono::milliseconds timeout = std::chrono::seconds(30)) const;

 private:
  std::string address_;
  int fd_ = -1;
};

}  // namespace gdnplan::test
