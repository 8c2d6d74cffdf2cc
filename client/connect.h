// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "client/stub.h"

namespace gdnplan::client {

// Waits until a gdnplan server answers through `stub`, at most `timeout`. The errors are those of
// Client::Connect; `address` is for their text.
absl::Status AwaitServer(Stub& stub, const std::string& address, std::chrono::milliseconds timeout);

}  // namespace gdnplan::client
