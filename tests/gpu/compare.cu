// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/compare.h"

namespace gdnplan::test {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerRange = 4;

__device__ void Report(const CompareParams& params, const CompareRange& range, uint32_t byte,
                       uint32_t got, uint32_t want) {
  CompareCounts& counts = *params.counts;
  atomicAdd(&counts.wrong_words, 1ULL);
  if (atomicExch(&counts.last_wrong_plan, params.plan_id) != params.plan_id) {
    atomicAdd(&counts.wrong_plans, 1ULL);
  }
  if (atomicCAS(&counts.first_plan, 0ULL, params.plan_id) != 0) return;
  counts.first_tensor = range.tensor;
  counts.first_group = range.group;
  counts.first_byte = byte;
  counts.first_got = got;
  counts.first_want = want;
  counts.first_look = params.look;
}

// blockIdx.y is the range. Each byte is read: whole words, then the rest one by one.
__global__ void __launch_bounds__(kThreads)
    CompareKernel(const __grid_constant__ CompareParams params) {
  const CompareRange& range = params.ranges[blockIdx.y];
  const auto* actual = reinterpret_cast<const uint32_t*>(range.actual);
  const auto* expected = reinterpret_cast<const uint32_t*>(range.expected);
  const uint32_t words = range.bytes / 4;
  const uint32_t first = blockIdx.x * kThreads + threadIdx.x;
  for (uint32_t i = first; i < words; i += kThreads * kBlocksPerRange) {
    if (actual[i] != expected[i]) Report(params, range, i * 4, actual[i], expected[i]);
  }
  if (const uint32_t i = words * 4 + first; i < range.bytes) {
    const auto got = static_cast<uint32_t>(range.actual[i]);
    const auto want = static_cast<uint32_t>(range.expected[i]);
    if (got != want) Report(params, range, i, got, want);
  }
  if (params.last_look && first == 0 && blockIdx.y == 0) atomicAdd(&params.counts->plans, 1ULL);
}

}  // namespace

cudaError_t LaunchCompare(const CompareParams& params, cudaStream_t stream) noexcept {
  const dim3 grid(kBlocksPerRange, static_cast<unsigned>(params.num_ranges));
  CompareKernel<<<grid, kThreads, 0, stream>>>(params);
  return cudaGetLastError();
}

}  // namespace gdnplan::test
