// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Addresses of TCP in text. A header alone, for parts that have nothing of gRPC, too.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace gdnplan::wire {

// Views into the text.
struct HostPort {
  std::string_view host;  // not empty; in brackets if it was
  std::string_view port;  // whatever it is
};

// HOST:PORT or [IPV6]:PORT; nothing: the text is neither.
inline std::optional<HostPort> SplitHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (host.empty() || host.find('/') != std::string_view::npos ||
      (!bracketed && host.find_first_of(":[]") != std::string_view::npos)) {
    return std::nullopt;
  }
  return HostPort{host, text.substr(colon + 1)};
}

inline constexpr int kMaxPort = 65'535;

// Digits alone, neither blanks nor a plus; nothing: no port.
inline std::optional<int> PortNumber(std::string_view text) {
  int port = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || stop != text.data() + text.size() || port < 0 || port > kMaxPort) {
    return std::nullopt;
  }
  return port;
}

}  // namespace gdnplan::wire
