// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine as devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/fill_mode.h"

namespace gdnplan::server {

// Whether this build can use GPUs at all.
bool BuiltWithCuda();

// `gpus`: ordinals or UUIDs; empty: every visible one. One that is named again is another device,
// as tests of several want it: id "UUID:1", .... FailedPrecondition when the build, the driver or
// the machine cannot, InvalidArgument when a GPU named does not exist.
absl::StatusOr<std::vector<std::shared_ptr<Device>>> OpenCudaDevices(
    const std::vector<std::string>& gpus, FillMode fill, const std::shared_ptr<Boot>& boot);

}  // namespace gdnplan::server
