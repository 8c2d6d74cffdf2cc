// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/address.h"

#include <arpa/inet.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {

namespace {

constexpr char kDigits[] = "0123456789.";
constexpr char kNames[] = "0123456789.-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// The HTTP server takes a list with commas, and the last bits of numbers that are too large.
bool IsHost(const std::string& host) {
  in_addr address{};
  if (host.find_first_not_of(kDigits) == std::string::npos) {
    return inet_pton(AF_INET, host.c_str(), &address) == 1;
  }
  return host.find_first_not_of(kNames) == std::string::npos;
}

}  // namespace

absl::StatusOr<ListenAddress> ParseMetricsAddress(std::string_view text) {
  absl::StatusOr<ListenAddress> address = ListenAddress::Parse(text);
  if (address.ok() && !address->is_unix() && address->scheme.empty() && IsHost(address->host)) {
    return address;
  }
  return plan::InvalidField(
      "metrics-listen", absl::StrCat("must be HOST:PORT over IPv4, such as 127.0.0.1:9400, port 0 "
                                     "for any (got ",
                                     plan::ToAbsl(text), ")"));
}

}  // namespace gdnplan::server
