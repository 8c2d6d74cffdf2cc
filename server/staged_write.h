// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What one write will enqueue on a GPU, once its slot is free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gdnplan/cuda/fill_launch.h"

namespace gdnplan::server {

// From a staging block's image to the same offset of the slot.
struct StagedTransfer {
  int64_t offset = 0;
  size_t width = 0;  // bytes of a row
  size_t pitch = 0;  // bytes from one row to the next
  size_t rows = 1;
};

struct StagedWrite {
  int32_t slot = 0;
  uint64_t timeline_value = 0;  // what `ready` becomes
  uint64_t after_consumed = 0;  // what `consumed` has to be at least
  bool use_kernel = false;
  cuda::FillParams kernel;
  std::array<StagedTransfer, 3> transfers;
  size_t num_transfers = 0;

  void Add(const StagedTransfer& transfer) { transfers[num_transfers++] = transfer; }
};

}  // namespace gdnplan::server
