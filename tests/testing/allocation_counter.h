// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Counts what goes through operator new. Linking this replaces it in the whole executable.
#pragma once

#include <cstdint>

namespace gdnplan::test {

// Calls of operator new so far, by all threads.
int64_t AllocationCount();

}  // namespace gdnplan::test
