// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A kernel that compares a plan's bytes with what they have to be, in the order of a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace gdnplan::test {

// One (group's) tensor. Both pointers are aligned to 4 bytes.
struct CompareRange {
  const std::byte* actual = nullptr;
  const std::byte* expected = nullptr;
  uint32_t bytes = 0;
  uint16_t tensor = 0;  // plan::TensorId
  uint16_t group = 0;
};

// What the comparisons of one consumer found. Types are those of the device's atomic operations.
struct CompareCounts {
  unsigned long long plans = 0;  // that were compared to the end
  unsigned long long wrong_plans = 0;
  unsigned long long wrong_words = 0;
  unsigned long long last_wrong_plan = 0;
  // The first word that was wrong.
  unsigned long long first_plan = 0;  // 0: none was
  uint32_t first_tensor = 0;
  uint32_t first_group = 0;
  uint32_t first_byte = 0;
  uint32_t first_got = 0;
  uint32_t first_want = 0;
  uint32_t first_look = 0;  // 0: as soon as the plan was ready; 1: just before it was consumed
};

inline constexpr int kMaxCompareRanges = 64;

struct CompareParams {
  CompareRange ranges[kMaxCompareRanges];
  int num_ranges = 0;
  unsigned long long plan_id = 0;
  uint32_t look = 0;
  bool last_look = false;           // counts the plan
  CompareCounts* counts = nullptr;  // device memory
};

// Enqueues; does not synchronise. Returns the launch's error.
cudaError_t LaunchCompare(const CompareParams& params, cudaStream_t stream) noexcept;

}  // namespace gdnplan::test
