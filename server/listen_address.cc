// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/listen_address.h"

#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "wire/host_port.h"

namespace gdnplan::server {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcpSchemes[] = {"ipv4:", "ipv6:", "dns:"};
constexpr size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status Refuse(std::string_view text, std::string_view reason) {
  return plan::InvalidField("listen",
                            absl::StrCat(plan::ToAbsl(reason), " (got ", plan::ToAbsl(text), ")"));
}

absl::StatusOr<ListenAddress> ParseUnix(std::string_view text) {
  std::string_view path = text.substr(kUnix.size());
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    if (!path.starts_with('/')) return Refuse(text, "unix:// needs an absolute path");
  }
  // Clients parse the address as a URI: these would mean something else there.
  const bool plain = std::none_of(path.begin(), path.end(), [](char c) {
    return c == '%' || c == '?' || c == '#' || static_cast<unsigned char>(c) < ' ';
  });
  if (!plain) return Refuse(text, "a socket's path has no %, ?, # or control characters");
  if (path.empty() || path.ends_with('/')) return Refuse(text, "unix: needs a socket's path");
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return Refuse(text, "the working directory is unknown; give an absolute path");
  ListenAddress address;
  address.socket_path = absolute.string();
  if (address.socket_path.size() > kMaxPath) {
    return Refuse(text, absl::StrCat("a socket's path has at most ", kMaxPath, " bytes, this has ",
                                     address.socket_path.size()));
  }
  return address;
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(std::string_view text) {
  if (text.starts_with(kUnix)) return ParseUnix(text);
  if (text.starts_with("unix-abstract:")) {
    return Refuse(text, "abstract sockets have no permissions; use unix:PATH");
  }
  ListenAddress address;
  std::string_view rest = text;
  for (const std::string_view scheme : kTcpSchemes) {
    if (!text.starts_with(scheme)) continue;
    address.scheme = scheme;
    rest.remove_prefix(scheme.size());
    break;
  }
  const auto split = wire::SplitHostPort(rest);
  if (!split.has_value()) return Refuse(text, "must be unix:PATH, HOST:PORT or [IPV6]:PORT");
  const auto port = wire::PortNumber(split->port);
  if (!port.has_value()) {
    return Refuse(text, absl::StrCat("the port must be in 0..", wire::kMaxPort, ", 0 for any"));
  }
  address.host = split->host;
  address.port = *port;
  return address;
}

// gRPC's server looks everything that is no Unix socket up as a name and port, schemes included.
std::string ListenAddress::target() const {
  return is_unix() ? absl::StrCat(plan::ToAbsl(kUnix), socket_path) : absl::StrCat(host, ":", port);
}

std::string ListenAddress::ToString(int chosen_port) const {
  return is_unix() ? target() : absl::StrCat(scheme, host, ":", chosen_port);
}

}  // namespace gdnplan::server
