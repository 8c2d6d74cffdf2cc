// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/loopback.h"

#include <arpa/inet.h>

#include <cstdint>
#include <string>

namespace gdnplan::wire {

bool IsLoopback(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") return true;
  const std::string text(host);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool IsUnixSocket(std::string_view address) {
  return address.starts_with("unix:") || address.starts_with("unix-abstract:");
}

bool StaysOnThisMachine(std::string_view address) {
  if (IsUnixSocket(address)) return true;
  for (const std::string_view scheme : {"ipv4:", "ipv6:", "dns:///", "dns:"}) {
    if (!address.starts_with(scheme)) continue;
    address.remove_prefix(scheme.size());
    break;
  }
  // ipv4: and ipv6: take several, and a name may be looked up by a server that the URI names.
  if (address.find_first_of(",/") != std::string_view::npos) return false;
  const size_t colon = address.rfind(':');
  const bool has_port = colon != std::string_view::npos && !address.ends_with(']');
  return IsLoopback(has_port ? address.substr(0, colon) : address);
}

}  // namespace gdnplan::wire
