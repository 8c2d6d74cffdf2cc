// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/address.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {

absl::StatusOr<ListenAddress> ParseMetricsAddress(std::string_view text) {
  absl::StatusOr<ListenAddress> address = ListenAddress::Parse(text);
  if (address.ok() && !address->is_unix() && address->scheme.empty() &&
      !address->host.starts_with('[')) {
    return address;
  }
  return plan::InvalidField(
      "metrics-listen", absl::StrCat("must be HOST:PORT over IPv4, such as 127.0.0.1:9400, port 0 "
                                     "for any (got ",
                                     plan::ToAbsl(text), ")"));
}

}  // namespace gdnplan::server
