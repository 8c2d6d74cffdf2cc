// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gdnplan::wire {

// What std::thread throws where the system gives none.
inline absl::Status ThreadError(const std::system_error& error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no thread: ", error.what(),
                   "; raise the limits of processes and memory (ulimit -u and -v, a container's "
                   "pids and memory)"));
}

}  // namespace gdnplan::wire
