// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/cuda_device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gdnplan/cuda/device_guard.h"
#include "gdnplan/cuda/fill_launch.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/plan/status.h"
#include "server/cuda_arena.h"
#include "server/cuda_devices.h"

namespace gdnplan::server {
namespace {

absl::Status Lacks(const cuda::GpuInfo& gpu, std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("GPU ", gpu.uuid, " (", gpu.name, ") ", plan::ToAbsl(what)));
}

absl::Status CheckCapabilities(const cuda::GpuInfo& gpu) {
  if (!gpu.second_process) {
    return Lacks(gpu,
                 "is in a compute mode that admits one process or none, but its workers have to "
                 "share it with the server: set the default compute mode");
  }
  if (!gpu.legacy_ipc) {
    return Lacks(gpu, "has no CUDA IPC, by which workers map the buffers");
  }
  if (!gpu.stream_waits) {
    return Lacks(gpu,
                 "has no 64-bit stream memory operations, by which streams wait for each other "
                 "across processes");
  }
  return absl::OkStatus();
}

// An ordinal or a UUID, of which a unique beginning is enough.
absl::StatusOr<cuda::GpuInfo> Find(const std::vector<cuda::GpuInfo>& gpus,
                                   const std::string& name) {
  int ordinal = -1;
  const bool by_ordinal = absl::SimpleAtoi(name, &ordinal);
  std::vector<cuda::GpuInfo> found;
  for (const cuda::GpuInfo& gpu : gpus) {
    if (by_ordinal ? gpu.ordinal == ordinal : gpu.uuid.starts_with(name)) found.push_back(gpu);
  }
  if (found.size() == 1) return found.front();
  return plan::InvalidField(
      "device",
      absl::StrCat(found.empty() ? "no visible GPU is " : "more than one GPU is ", name,
                   "; visible are ",
                   absl::StrJoin(gpus, ", ", [](std::string* out, const cuda::GpuInfo& gpu) {
                     absl::StrAppend(out, gpu.ordinal, " = ", gpu.uuid);
                   })));
}

}  // namespace

absl::StatusOr<std::shared_ptr<CudaDevice>> CudaDevice::Open(const cuda::GpuInfo& gpu,
                                                             std::string id, FillMode fill,
                                                             std::shared_ptr<Boot> boot) {
  GDNPLAN_RETURN_IF_ERROR(CheckCapabilities(gpu));
  GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(gpu.ordinal));
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaFree(nullptr));
  GDNPLAN_CUDA_RETURN_IF_ERROR(cuda::PrepareFill());
  return std::shared_ptr<CudaDevice>(new CudaDevice(gpu, std::move(id), fill, std::move(boot)));
}

DeviceInfo CudaDevice::info() const {
  DeviceInfo info;
  info.kind = DeviceKind::kCuda;
  info.id = id_;
  info.name = gpu_.name;
  info.memory_bytes = gpu_.memory_bytes;
  info.fill_mode = fill_;
  info.mps = gpu_.mps;
  info.fills = fills()->counts();
  const absl::StatusOr<cuda::DeviceGuard> guard = cuda::DeviceGuard::Create(gpu_.ordinal);
  size_t free_bytes = 0;
  size_t total = 0;
  // Where even this fails, nothing is available.
  if (guard.ok() && cudaMemGetInfo(&free_bytes, &total) == cudaSuccess) {
    info.available_bytes = free_bytes;
  }
  return info;
}

absl::StatusOr<std::unique_ptr<DeviceArena>> CudaDevice::CreateArena(const ArenaRequest& request) {
  return CudaArena::Create(gpu_, request, fill_, *boot_);
}

bool BuiltWithCuda() { return true; }

absl::StatusOr<std::vector<std::shared_ptr<Device>>> OpenCudaDevices(
    const std::vector<std::string>& gpus, FillMode fill, const std::shared_ptr<Boot>& boot) {
  // Before the first context: as many hardware queues as there are, so that sessions' streams share
  // them as little as possible.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  GDNPLAN_ASSIGN_OR_RETURN(const std::vector<cuda::GpuInfo> visible, cuda::ListGpus());
  std::vector<cuda::GpuInfo> chosen;
  if (gpus.empty()) chosen = visible;
  for (const std::string& name : gpus) {
    GDNPLAN_ASSIGN_OR_RETURN(cuda::GpuInfo gpu, Find(visible, name));
    chosen.push_back(std::move(gpu));
  }
  std::vector<std::shared_ptr<Device>> devices;
  std::map<int, int> named;  // by ordinal: how often so far
  for (const cuda::GpuInfo& gpu : chosen) {
    const int before = named[gpu.ordinal]++;
    GDNPLAN_ASSIGN_OR_RETURN(
        std::shared_ptr<CudaDevice> device,
        CudaDevice::Open(gpu, before == 0 ? gpu.uuid : absl::StrCat(gpu.uuid, ":", before), fill,
                         boot));
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace gdnplan::server
