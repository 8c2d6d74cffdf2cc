// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/out_of_memory.h"

namespace gdnplan::server {

const absl::Status& OutOfMemory() {
  static const absl::Status& status = *new absl::Status(absl::ResourceExhaustedError(
      "memory: the server's process has none left for this request; ask for less, or later"));
  return status;
}

}  // namespace gdnplan::server
