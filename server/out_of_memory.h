// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Requests that this process has no memory for: they are refused, and others go on.
#pragma once

#include <new>

#include "absl/status/status.h"

namespace gdnplan::server {

// ResourceExhausted. Once it was called, it takes no memory.
const absl::Status& OutOfMemory();

// What the function returns, a Status or StatusOr; OutOfMemory where there was none. The function
// must leave things whole then.
template <typename Function>
auto CatchOutOfMemory(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

}  // namespace gdnplan::server
