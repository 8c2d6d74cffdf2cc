// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/spin.h"

namespace gdnplan::test {
namespace {

constexpr unsigned kBlocks = 64;
constexpr unsigned kThreads = 128;

__device__ uint64_t Now() {
  uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void SpinKernel(uint32_t nanoseconds) {
  const uint64_t start = Now();
  while (Now() - start < nanoseconds) {
  }
}

}  // namespace

cudaError_t LaunchSpin(uint32_t nanoseconds, cudaStream_t stream) noexcept {
  SpinKernel<<<kBlocks, kThreads, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

}  // namespace gdnplan::test
