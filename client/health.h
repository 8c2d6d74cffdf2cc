// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Whether a server serves, as probes ask it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "gdnplan/client/client.h"

namespace gdnplan::client {

// Asks the standard health service, which wants no token and does not wait for a GPU. Ok: it
// serves. Unavailable: it says that it does not. Else the errors of Client::Connect.
absl::Status CheckHealth(const std::string& address, const ClientOptions& options);

}  // namespace gdnplan::client
