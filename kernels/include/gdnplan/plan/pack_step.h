// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One block of memory that holds all that a fill reads, so that a kernel can read it where it lies.
#pragma once

#include <cstddef>

#include "gdnplan/plan/config.h"
#include "gdnplan/plan/step_input.h"

namespace gdnplan::plan {

// Bytes that PackStep needs at most under this configuration.
size_t PackedStepBytes(const PlanConfig& config);

// Copies the step's arrays, and of each group's table the states that the step reads, into `block`
// (PackedStepBytes bytes, aligned to 64). The result points into the block and fills to the same
// bytes as `in`. `group`: only this group's table is read, the others' states are unspecified (a
// re-gather); -1: all. Does not allocate.
StepInput PackStep(const StepInput& in, int32_t group, std::byte* block);

}  // namespace gdnplan::plan
