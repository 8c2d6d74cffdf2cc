// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/gpu_info.h"

#include <cuda_runtime_api.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cuda/driver_api.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::cuda {
namespace {

std::string Format(std::string_view prefix, const CUuuid& uuid) {
  std::string text(prefix);
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    absl::StrAppend(&text, absl::Hex(static_cast<unsigned char>(uuid.bytes[i]), absl::kZeroPad2));
  }
  return text;
}

absl::StatusOr<bool> Attribute(const DriverApi& api, CUdevice_attribute attribute, CUdevice device,
                               int want) {
  int value = 0;
  const CUresult result = api.device_get_attribute(&value, attribute, device);
  // A driver that does not know the attribute does not have the feature.
  if (result == CUDA_ERROR_INVALID_VALUE) return false;
  GDNPLAN_RETURN_IF_ERROR(ToStatus(result, "cuDeviceGetAttribute"));
  return value == want;
}

absl::StatusOr<GpuInfo> Describe(const DriverApi& api, int ordinal) {
  GpuInfo info;
  info.ordinal = ordinal;
  CUdevice device = 0;
  CUuuid gpu{};
  CUuuid instance{};
  GDNPLAN_RETURN_IF_ERROR(ToStatus(api.device_get(&device, ordinal), "cuDeviceGet"));
  GDNPLAN_RETURN_IF_ERROR(ToStatus(api.device_get_uuid(&gpu, device), "cuDeviceGetUuid"));
  GDNPLAN_RETURN_IF_ERROR(
      ToStatus(api.device_get_uuid_v2(&instance, device), "cuDeviceGetUuid_v2"));
  const bool mig = std::memcmp(&gpu, &instance, sizeof(gpu)) != 0;
  info.uuid = Format(mig ? "MIG-" : "GPU-", instance);

  cudaDeviceProp properties;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&properties, ordinal));
  info.name = properties.name;
  info.memory_bytes = properties.totalGlobalMem;
  GDNPLAN_ASSIGN_OR_RETURN(info.mps, Attribute(api, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, device, 1));
  GDNPLAN_ASSIGN_OR_RETURN(
      info.stream_waits,
      Attribute(api, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device, 1));
  GDNPLAN_ASSIGN_OR_RETURN(info.legacy_ipc,
                           Attribute(api, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, device, 1));
  GDNPLAN_ASSIGN_OR_RETURN(info.second_process, Attribute(api, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE,
                                                          device, CU_COMPUTEMODE_DEFAULT));
  return info;
}

}  // namespace

absl::StatusOr<std::vector<GpuInfo>> ListGpus() {
  // Where there is no driver at all, the next call would speak of one that is too old.
  int driver_version = 0;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaDriverGetVersion(&driver_version));
  if (driver_version == 0) {
    return absl::FailedPreconditionError("there is no NVIDIA driver here (no libcuda.so.1)");
  }
  int count = 0;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaGetDeviceCount(&count));
  if (count == 0) return absl::FailedPreconditionError("CUDA sees no GPU");
  GDNPLAN_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Get());
  std::vector<GpuInfo> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    GDNPLAN_ASSIGN_OR_RETURN(GpuInfo info, Describe(*api, ordinal));
    gpus.push_back(std::move(info));
  }
  return gpus;
}

absl::StatusOr<int> FindGpu(const std::string& uuid) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::vector<GpuInfo> gpus, ListGpus());
  for (const GpuInfo& gpu : gpus) {
    if (gpu.uuid == uuid) return gpu.ordinal;
  }
  return absl::NotFoundError(absl::StrCat(
      "GPU ", uuid, " is not visible to this process; it sees ",
      absl::StrJoin(gpus, ", ", [](std::string* out, const GpuInfo& gpu) { *out += gpu.uuid; }),
      ". Check CUDA_VISIBLE_DEVICES and the container's devices"));
}

}  // namespace gdnplan::cuda
