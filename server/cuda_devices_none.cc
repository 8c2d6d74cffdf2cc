// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Of builds without CUDA.
#include "server/cuda_devices.h"

namespace gdnplan::server {

bool BuiltWithCuda() { return false; }

absl::StatusOr<std::vector<std::shared_ptr<Device>>> OpenCudaDevices(
    const std::vector<std::string>& /*gpus*/, FillMode /*fill*/,
    const std::shared_ptr<Boot>& /*boot*/) {
  return absl::FailedPreconditionError("this server was built without CUDA");
}

}  // namespace gdnplan::server
