// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a process holds of the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gdnplan::test {

struct ProcessUsage {
  uint64_t resident_bytes = 0;  // shared memory included
  int descriptors = 0;
  int threads = 0;
};

// All 0: it is gone.
ProcessUsage UsageOf(pid_t pid);

// "45.1 MiB, 31 descriptors, 14 threads"
std::string ToString(const ProcessUsage& usage);

// Names of shared memory objects, without the leading '/', that start with that.
std::vector<std::string> SharedMemoryObjects(const std::string& prefix);

}  // namespace gdnplan::test
