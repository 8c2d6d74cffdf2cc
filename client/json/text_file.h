// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Files that the user names, read whole.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace gdnplan::json {

// Far above any batch, golden file or trace, and below what hurts: devices and pipes may not end.
constexpr size_t kMaxFileBytes = size_t{512} << 20;

// "-" is standard input. NotFound "cannot read PATH: reason"; InvalidArgument for a directory and
// for more than `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = kMaxFileBytes);

}  // namespace gdnplan::json
