// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Work that takes a while and touches nothing, as an engine's between two reads of a plan.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gdnplan::test {

// Keeps a good part of the GPU busy for that long. Enqueues; returns the launch's error.
cudaError_t LaunchSpin(uint32_t nanoseconds, cudaStream_t stream) noexcept;

}  // namespace gdnplan::test
