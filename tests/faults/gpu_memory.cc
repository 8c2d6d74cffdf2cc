// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/gpu_memory.h"

#include <cstdio>
#include <memory>

#include "tests/testing/eventually.h"

namespace gdnplan::test {

std::optional<uint64_t> UsedGpuMemory() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null", "re"),
      pclose);
  if (pipe == nullptr) return std::nullopt;
  std::optional<uint64_t> sum;
  unsigned long long used = 0;
  while (std::fscanf(pipe.get(), "%llu", &used) == 1) sum = sum.value_or(0) + used;
  return sum;
}

uint64_t AwaitUsedGpuMemory(uint64_t before) {
  uint64_t used = 0;
  Eventually([&] {
    used = UsedGpuMemory().value_or(0);
    return used <= before;
  });
  return used;
}

}  // namespace gdnplan::test
