// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A GPU as a device.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "gdnplan/cuda/gpu_info.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/fill_mode.h"

namespace gdnplan::server {

class CudaDevice final : public Device {
 public:
  // Makes the process's context on the GPU, which takes a good part of a second. FailedPrecondition
  // names what the GPU lacks: legacy IPC, stream memory operations, a compute mode that lets
  // workers in.
  static absl::StatusOr<std::shared_ptr<CudaDevice>> Open(const cuda::GpuInfo& gpu, std::string id,
                                                          FillMode fill,
                                                          std::shared_ptr<Boot> boot);

  DeviceInfo info() const override;
  absl::StatusOr<std::unique_ptr<DeviceArena>> CreateArena(const ArenaRequest& request) override;

 private:
  CudaDevice(const cuda::GpuInfo& gpu, std::string id, FillMode fill, std::shared_ptr<Boot> boot)
      : gpu_(gpu), id_(std::move(id)), fill_(fill), boot_(std::move(boot)) {}

  const cuda::GpuInfo gpu_;
  const std::string id_;  // the UUID, or "UUID:1", ... where the GPU is named more than once
  const FillMode fill_;
  const std::shared_ptr<Boot> boot_;
};

}  // namespace gdnplan::server
