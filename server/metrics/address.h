// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where metrics are served.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "server/listen_address.h"

namespace gdnplan::server {

// HOST:PORT over IPv4, for distributions build the HTTP server without IPv6; port 0 for any.
// InvalidArgument, naming the flag.
absl::StatusOr<ListenAddress> ParseMetricsAddress(std::string_view text);

}  // namespace gdnplan::server
