// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Which way a plan's bytes take to a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_input.h"

namespace gdnplan::server {

enum class FillMode : uint8_t { kAuto, kCopy, kKernel };
// What made a plan's bytes.
enum class FillKind : uint8_t { kHost, kCopy, kKernel };

// Under MPS a kernel is the quicker way for plans that it expands by this many bytes and more.
// Measured on an H200 under MPS beside a busy neighbour, CPU time and then until ready, copy
// against kernel: 46 KiB (128 speculative rows and 8 prefills of 1k, 4 groups) 17 + 7 against 11 +
// 32 us, 149 KiB (64 prefills of 2k) 27 + 12 against 9 + 14 us.
inline constexpr int64_t kKernelFillBytes = 128 << 10;

// Bytes that the kernel makes of the rows, beyond the states, which it only reads across the bus
// and writes down again.
constexpr int64_t ExpandedBytes(const plan::StepInput& input, const plan::PlanLayout& layout) {
  const int64_t states = int64_t{4} * input.num_rows * input.state_columns * input.num_groups;
  return layout.packed_bytes + int64_t{8} * input.counts.num_conv_programs - states;
}

constexpr bool UseKernelFill(FillMode mode, bool mps, int64_t expanded_bytes) {
  switch (mode) {
    case FillMode::kCopy:
      return false;
    case FillMode::kKernel:
      return true;
    case FillMode::kAuto:
      // Without MPS a kernel of ours waits for the engine's time slice, milliseconds; a copy engine
      // does not.
      return mps && expanded_bytes >= kKernelFillBytes;
  }
  return false;
}

// What the mode comes to on a GPU, for people.
std::string Explain(FillMode mode, bool mps);

}  // namespace gdnplan::server
