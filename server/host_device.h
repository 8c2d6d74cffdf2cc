// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Plain memory as a device, for machines without a GPU: plans are written in place into POSIX
// shared memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "server/boot.h"
#include "server/device.h"

namespace gdnplan::server {

class HostDevice final : public Device {
 public:
  struct Options {
    int32_t index = 0;         // of several: id "host" for 0, else "host:INDEX"
    uint64_t limit_bytes = 0;  // of all arenas together; 0: what shared memory has
  };
  explicit HostDevice(std::shared_ptr<Boot> boot) : HostDevice(std::move(boot), Options()) {}
  HostDevice(std::shared_ptr<Boot> boot, const Options& options);

  DeviceInfo info() const override;
  absl::StatusOr<std::unique_ptr<DeviceArena>> CreateArena(const ArenaRequest& request) override;

 private:
  const std::shared_ptr<Boot> boot_;
  const Options options_;
  // Shared with the arenas, which may outlive the device.
  const std::shared_ptr<std::atomic<uint64_t>> used_bytes_;
};

}  // namespace gdnplan::server
