// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/fill_kernel.cuh"

namespace gdnplan::cuda {
namespace {

constexpr bool IsState(plan::TensorId tensor) {
  return tensor == plan::TensorId::kNonSpecStateIndices ||
         tensor == plan::TensorId::kSpecStateIndices ||
         tensor == plan::TensorId::kPrefillStateIndices;
}

// How many elements of one group's tensor the fill writes.
int32_t Elements(const FillParams& params, plan::TensorId tensor) {
  const plan::TensorExtent& extent = params.layout[tensor];
  switch (tensor) {
    case plan::TensorId::kBatchPtr:
    case plan::TensorId::kTokenChunkOffsetPtr: {
      // Behind the programs and what the last plan reached the tail is as it should be.
      const int32_t programs = params.input.counts.num_conv_programs;
      return programs > params.conv_reach ? programs : params.conv_reach;
    }
    default:
      return extent.dims[0] * (extent.dims[1] > 0 ? extent.dims[1] : 1);
  }
}

FillJobs MakeJobs(const FillParams& params) {
  FillJobs jobs{};
  for (int t = 0; t < plan::kNumTensors; ++t) {
    const auto tensor = static_cast<plan::TensorId>(t);
    if (!params.layout[tensor].present) continue;
    const bool state = IsState(tensor);
    if (params.group >= 0 && !state) continue;
    const int32_t elements = Elements(params, tensor);
    if (elements == 0) continue;
    FillJob& job = jobs.jobs[jobs.count++];
    job.first_block = jobs.blocks;
    job.blocks_per_group = plan::CeilDiv(elements, kElementsPerBlock);
    job.elements = elements;
    job.first_group = state && params.group >= 0 ? params.group : 0;
    job.tensor = static_cast<uint8_t>(t);
    const int32_t groups = state && params.group < 0 ? params.input.num_groups : 1;
    jobs.blocks += job.blocks_per_group * groups;
  }
  return jobs;
}

}  // namespace

cudaError_t PrepareFill() noexcept {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, FillKernel);
}

cudaError_t LaunchFill(const FillParams& params, cudaStream_t stream) noexcept {
  const FillJobs jobs = MakeJobs(params);
  if (jobs.blocks == 0) return cudaSuccess;
  FillKernel<<<static_cast<unsigned>(jobs.blocks), kFillThreads, 0, stream>>>(params, jobs);
  return cudaGetLastError();
}

}  // namespace gdnplan::cuda
