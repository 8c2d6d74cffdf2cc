// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "absl/status/status.h"

namespace gdnplan::client {

// What a stream answers in a forked child, where its threads and sockets are not its own.
inline absl::Status StreamInForkedChild() {
  return absl::FailedPreconditionError(
      "this stream was made before a fork and cannot be used in the child; connect anew there");
}

}  // namespace gdnplan::client
