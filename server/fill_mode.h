// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Which way a plan's bytes take to a GPU.
#pragma once

#include <cstdint>

namespace gdnplan::server {

enum class FillMode : uint8_t { kAuto, kCopy, kKernel };

// What kAuto knows of a plan and its GPU.
struct FillSituation {
  bool mps = false;  // kernels of ours run beside the engine's instead of waiting for a time slice
  int64_t image_bytes = 0;  // that a copy would build and move
};

// Under MPS a kernel is the cheaper way for images of this size and above: its launch costs the CPU
// the same whatever the size, while a copy's image has to be built.
inline constexpr int64_t kKernelFillBytes = 128 << 10;

constexpr bool UseKernelFill(FillMode mode, const FillSituation& situation) {
  switch (mode) {
    case FillMode::kCopy:
      return false;
    case FillMode::kKernel:
      return true;
    case FillMode::kAuto:
      // Without MPS a kernel of ours waits for the engine's time slice, milliseconds; a copy engine
      // does not.
      return situation.mps && situation.image_bytes >= kKernelFillBytes;
  }
  return false;
}

}  // namespace gdnplan::server
