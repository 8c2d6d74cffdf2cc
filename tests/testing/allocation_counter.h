// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Counts what goes through operator new, and lets it fail. Linking this replaces it in the whole
// executable.
#pragma once

#include <cstdint>

namespace gdnplan::test {

// Calls of operator new so far, by all threads.
int64_t AllocationCount();

// While it lives, the calling thread's allocations fail from the one after `allowed` more on:
// only that one, or all. One at a time.
class FailingAllocations {
 public:
  enum class Which : uint8_t { kOne, kAll };
  FailingAllocations(int64_t allowed, Which which);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  // How many failed.
  int64_t failed() const;
};

}  // namespace gdnplan::test
