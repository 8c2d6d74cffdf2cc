// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One block fills a run of elements of one tensor of one group. Which, it finds in the job table.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gdnplan/cuda/fill_launch.h"
#include "gdnplan/plan/elements.h"

namespace gdnplan::cuda {

inline constexpr int kFillThreads = 256;
inline constexpr int kElementsPerBlock = 1024;
// Running sums up to this many rows are searched in shared memory instead of across the bus.
inline constexpr int kSharedOffsets = 8192;

// A tensor's share of the grid: blocks [first_block, next job's first_block), blocks_per_group of
// them a group.
struct FillJob {
  int32_t first_block;
  int32_t blocks_per_group;
  int32_t elements;  // of one group's tensor, or as far as the tail is rewritten
  int32_t first_group;
  uint8_t tensor;
};
struct FillJobs {
  FillJob jobs[plan::kNumTensors];
  int32_t count = 0;
  int32_t blocks = 0;
};

// The running sum that says which row an element of a ragged tensor belongs to.
struct Segments {
  const int32_t* offsets = nullptr;
  int32_t rows = 0;
};

__device__ inline Segments SegmentsOf(const plan::StepInput& in, plan::TensorId tensor) {
  switch (tensor) {
    case plan::TensorId::kSpecTokenIndx:
      return {in.spec_query_start_loc, in.num_spec_rows};
    case plan::TensorId::kNonSpecTokenIndx:
      return {in.non_spec_query_start_loc, in.num_non_spec_rows};
    case plan::TensorId::kChunkIndices:
      return {in.chunk_offsets, in.num_prefill_rows};
    case plan::TensorId::kBatchPtr:
    case plan::TensorId::kTokenChunkOffsetPtr:
      return {in.conv_offsets, in.num_non_spec_rows};
    default:
      return {};
  }
}

__device__ inline int32_t RaggedElement(const plan::StepInput& in, plan::TensorId tensor,
                                        const Segments& segments, int32_t e) {
  const int32_t item = tensor == plan::TensorId::kChunkIndices ? e / 2 : e;
  if (item >= segments.offsets[segments.rows]) return plan::kPadSlotId;
  const int32_t row = plan::FindSegment(segments.offsets, segments.rows, item);
  const int32_t within = item - segments.offsets[row];
  switch (tensor) {
    case plan::TensorId::kSpecTokenIndx:
      return plan::SpecTokenIndex(in, row, within);
    case plan::TensorId::kNonSpecTokenIndx:
      return plan::NonSpecTokenIndex(in, row, within);
    case plan::TensorId::kChunkIndices:
      return e % 2 == 0 ? row : within;
    case plan::TensorId::kBatchPtr:
      return row;
    default:
      return within;
  }
}

// Element e of a tensor with one element, or one row of states, per row.
__device__ inline int32_t RowElement(const plan::StepInput& in, plan::TensorId tensor,
                                     int32_t group, int32_t e) {
  switch (tensor) {
    case plan::TensorId::kNonSpecQueryStartLoc:
      return in.non_spec_query_start_loc[e];
    case plan::TensorId::kNonSpecStateIndices:
      return plan::NonSpecStateIndex(in, in.groups[group], e);
    case plan::TensorId::kSpecQueryStartLoc:
      return plan::SpecQueryStartLoc(in, e);
    case plan::TensorId::kNumAcceptedTokens:
      return plan::NumAcceptedTokens(in, e);
    case plan::TensorId::kSpecSequenceMasks:
      return in.spec_sequence_masks[e];
    case plan::TensorId::kSpecStateIndices:
      return plan::SpecStateIndex(in, in.groups[group], e / in.state_columns, e % in.state_columns);
    case plan::TensorId::kHasInitialState:
      return plan::NonSpecHasInitialState(in, e);
    case plan::TensorId::kPrefillQueryStartLoc:
      return plan::PrefillQueryStartLoc(in, e);
    case plan::TensorId::kPrefillStateIndices:
      return plan::PrefillStateIndex(in, in.groups[group], e);
    case plan::TensorId::kPrefillHasInitialState:
      return plan::NonSpecHasInitialState(in, in.prefill_begin + e);
    case plan::TensorId::kChunkOffsets:
      return in.chunk_offsets[e];
    case plan::TensorId::kNums:
      return plan::ConvPrograms(in, e);
    default:
      return 0;  // the ragged ones, which do not come here
  }
}

__device__ inline bool IsByte(plan::TensorId tensor) {
  return tensor == plan::TensorId::kSpecSequenceMasks ||
         tensor == plan::TensorId::kHasInitialState ||
         tensor == plan::TensorId::kPrefillHasInitialState;
}

__global__ void __launch_bounds__(kFillThreads)
    FillKernel(const __grid_constant__ FillParams params, const __grid_constant__ FillJobs jobs) {
  __shared__ int32_t shared_offsets[kSharedOffsets + 1];
  const auto block = static_cast<int32_t>(blockIdx.x);
  const auto thread = static_cast<int32_t>(threadIdx.x);

  int32_t index = 0;
  while (index + 1 < jobs.count && jobs.jobs[index + 1].first_block <= block) ++index;
  const FillJob job = jobs.jobs[index];
  const auto tensor = static_cast<plan::TensorId>(job.tensor);
  const int32_t group = job.first_group + (block - job.first_block) / job.blocks_per_group;
  const int32_t begin = (block - job.first_block) % job.blocks_per_group * kElementsPerBlock;
  const int32_t end = min(begin + kElementsPerBlock, job.elements);

  const plan::StepInput& in = params.input;
  const plan::TensorExtent& extent = params.layout.tensors[job.tensor];
  std::byte* out = params.slot + extent.offset + extent.group_stride * group;

  Segments segments = SegmentsOf(in, tensor);
  const bool ragged = segments.offsets != nullptr;
  if (ragged && segments.rows <= kSharedOffsets) {
    for (int32_t i = thread; i <= segments.rows; i += kFillThreads) {
      shared_offsets[i] = segments.offsets[i];
    }
    __syncthreads();
    segments.offsets = shared_offsets;
  }
  const bool byte = IsByte(tensor);
  for (int32_t e = begin + thread; e < end; e += kFillThreads) {
    const int32_t value =
        ragged ? RaggedElement(in, tensor, segments, e) : RowElement(in, tensor, group, e);
    if (byte) {
      reinterpret_cast<uint8_t*>(out)[e] = static_cast<uint8_t>(value);
    } else {
      reinterpret_cast<int32_t*>(out)[e] = value;
    }
  }
}

}  // namespace gdnplan::cuda
