// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/device_guard.h"

#include "gdnplan/cuda/status.h"

namespace gdnplan::cuda {

absl::StatusOr<DeviceGuard> DeviceGuard::Create(int ordinal) {
  int current = 0;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaGetDevice(&current));
  // A thread that is new to CUDA has device 0 current but no context, and the driver's functions
  // need one: cudaSetDevice makes it.
  thread_local bool has_context = false;
  if (current == ordinal && has_context) return DeviceGuard(kNone);
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaSetDevice(ordinal));
  has_context = true;
  return DeviceGuard(current);
}

DeviceGuard::~DeviceGuard() {
  if (previous_ != kNone) LogIfError(cudaSetDevice(previous_), "cudaSetDevice");
}

}  // namespace gdnplan::cuda
