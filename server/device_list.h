// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The devices that a server is started with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/fill_mode.h"

namespace gdnplan::server {

// --device, taken apart.
struct DeviceSelection {
  enum class Kind : uint8_t { kAuto, kHost, kCuda };
  Kind kind = Kind::kAuto;
  int32_t num_hosts = 1;
  std::vector<std::string> gpus;    // ordinals or UUIDs; empty: all
  FillMode fill = FillMode::kAuto;  // of GPUs
};

// auto | host[:N] | cuda[:GPU,...]. InvalidArgument says what is allowed.
absl::StatusOr<DeviceSelection> ParseDeviceSelection(std::string_view text);

// Whether a server started with it may come to use CUDA, as far as one can tell without doing so.
bool MayUseCuda(const DeviceSelection& selection);

// Never empty. `note` is for the log: why auto did not take the GPUs. Errors of a GPU that was
// asked for are FailedPrecondition or what CUDA says.
struct DeviceList {
  std::vector<std::shared_ptr<Device>> devices;
  std::string note;
};
absl::StatusOr<DeviceList> OpenDevices(const DeviceSelection& selection,
                                       const std::shared_ptr<Boot>& boot);

}  // namespace gdnplan::server
