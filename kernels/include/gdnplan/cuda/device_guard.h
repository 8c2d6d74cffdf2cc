// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Makes a device current for a scope. Checked, and restores what was current before.
#pragma once

#include "absl/status/statusor.h"

namespace gdnplan::cuda {

class DeviceGuard {
 public:
  static absl::StatusOr<DeviceGuard> Create(int ordinal);
  ~DeviceGuard();
  DeviceGuard(DeviceGuard&& other) noexcept : previous_(other.previous_) {
    other.previous_ = kNone;
  }
  DeviceGuard& operator=(DeviceGuard&&) = delete;

 private:
  static constexpr int kNone = -1;
  explicit DeviceGuard(int previous) : previous_(previous) {}

  int previous_;  // kNone: nothing to restore
};

}  // namespace gdnplan::cuda
