// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The fill of a slot by one kernel launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_input.h"

namespace gdnplan::cuda {

struct FillParams {
  // Its arrays must be readable by the device (plan::PackStep into pinned memory) until the kernel
  // is done.
  plan::StepInput input;
  plan::PlanLayout layout;
  std::byte* slot = nullptr;  // device memory
  // How far batch_ptr and token_chunk_offset_ptr of this slot may hold something other than
  // kPadSlotId: these are rewritten at least that far.
  int32_t conv_reach = 0;
  int32_t group = -1;  // only this group's state indices; -1: everything
};

// Loads the kernel on the current device. Without it the first launch would, which can wait for
// other streams' work.
cudaError_t PrepareFill() noexcept;

// Writes the same bytes as plan::FillSlot or, with `group`, plan::FillGroupStates. Enqueues one
// kernel; does not synchronise. Returns the launch's error.
cudaError_t LaunchFill(const FillParams& params, cudaStream_t stream) noexcept;

}  // namespace gdnplan::cuda
