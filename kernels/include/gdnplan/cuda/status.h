// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// CUDA results as absl::Status: one switch, one macro per situation.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "absl/status/status.h"

namespace gdnplan::cuda {

// Code by kind: no memory -> ResourceExhausted; no device or driver -> FailedPrecondition; device
// busy elsewhere -> Unavailable; all else -> Internal. The text has CUDA's name for the error and
// the call. Clears CUDA's last error. After a sticky error (the context is lost) plan::IsSticky is
// true of the status.
absl::Status ToStatus(cudaError_t error, std::string_view call);

// Whether CUDA does nothing in this process any more after this error.
bool IsSticky(cudaError_t error);

// For destructors: logs nothing when the runtime is shutting down, aborts never.
void LogIfError(cudaError_t error, std::string_view call) noexcept;

}  // namespace gdnplan::cuda

// Returns from the enclosing function when the CUDA runtime call fails.
#define GDNPLAN_CUDA_RETURN_IF_ERROR(call)                                                       \
  do {                                                                                           \
    if (const cudaError_t gdnplan_error_ = (call); gdnplan_error_ != cudaSuccess) [[unlikely]] { \
      return ::gdnplan::cuda::ToStatus(gdnplan_error_, #call);                                   \
    }                                                                                            \
  } while (false)
