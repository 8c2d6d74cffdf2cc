// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where a server listens, as gRPC spells it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace gdnplan::server {

// unix:PATH, unix:///PATH, HOST:PORT, [IPV6]:PORT, and the latter two after ipv4:, ipv6: or dns:.
struct ListenAddress {
  // InvalidArgument, with what is allowed.
  static absl::StatusOr<ListenAddress> Parse(std::string_view text);

  bool is_unix() const { return !socket_path.empty(); }
  // What gRPC's server takes.
  std::string target() const;
  // What a client connects to, with the port that was chosen where 0 was asked.
  std::string ToString(int chosen_port) const;

  std::string socket_path;  // absolute; empty: TCP
  std::string scheme;       // "ipv4:" and the like, or empty
  std::string host;         // in brackets if it was
  int port = 0;
};

}  // namespace gdnplan::server
