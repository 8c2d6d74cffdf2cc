// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver_api.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::cuda {
namespace {

template <typename Function>
absl::Status Load(const char* symbol, unsigned int version, Function& function) {
  void* pointer = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  GDNPLAN_CUDA_RETURN_IF_ERROR(
      cudaGetDriverEntryPointByVersion(symbol, &pointer, version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || pointer == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the NVIDIA driver has no ", symbol, ": it is older than CUDA 12"));
  }
  function = reinterpret_cast<Function>(pointer);
  return absl::OkStatus();
}

absl::StatusOr<DriverApi> LoadAll() {
  constexpr unsigned int kVersion = 12000;
  DriverApi api{};
  GDNPLAN_RETURN_IF_ERROR(Load("cuStreamWaitValue64", kVersion, api.stream_wait_value64));
  GDNPLAN_RETURN_IF_ERROR(Load("cuStreamWriteValue64", kVersion, api.stream_write_value64));
  GDNPLAN_RETURN_IF_ERROR(Load("cuStreamBatchMemOp", kVersion, api.stream_batch_mem_op));
  GDNPLAN_RETURN_IF_ERROR(Load("cuDeviceGet", kVersion, api.device_get));
  GDNPLAN_RETURN_IF_ERROR(Load("cuDeviceGetAttribute", kVersion, api.device_get_attribute));
  // The same name stands for both: the version asked for decides.
  GDNPLAN_RETURN_IF_ERROR(Load("cuDeviceGetUuid", 9020, api.device_get_uuid));
  GDNPLAN_RETURN_IF_ERROR(Load("cuDeviceGetUuid", kVersion, api.device_get_uuid_v2));
  return api;
}

}  // namespace

absl::StatusOr<const DriverApi*> DriverApi::Get() {
  static const absl::StatusOr<DriverApi> api = LoadAll();
  if (!api.ok()) return api.status();
  return &*api;
}

absl::Status ToStatus(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  // The two enumerations share their numbers for every error that both know.
  return ToStatus(static_cast<cudaError_t>(result), call);
}

}  // namespace gdnplan::cuda
