// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "client/stub.h"

namespace gdnplan::client {

// InvalidArgument when gRPC could make nothing of it, or would take it for another thing: a path
// for a host's name, a name without a port for one with port 443.
absl::Status CheckAddress(const std::string& address);

// Asks, waiting for the server, until it answers, at most `timeout`; then once more without, for
// the reason. The errors are those of Client::Connect; `address` is for their text.
absl::Status AwaitServer(const std::function<absl::Status(const CallContext&)>& ask,
                         const std::string& address, std::chrono::milliseconds timeout);

}  // namespace gdnplan::client
