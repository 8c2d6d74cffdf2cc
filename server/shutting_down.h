// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a server that drains answers.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {

// Its supervisor starts the next one within about that.
inline absl::Status ShuttingDown() {
  return plan::RetryAfter(absl::UnavailableError("the server is shutting down"),
                          std::chrono::seconds(1));
}

}  // namespace gdnplan::server
