// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/memory.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace gdnplan::cuda {

absl::StatusOr<DeviceMemory> DeviceMemory::Create(size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    size_t free_bytes = 0;
    size_t total = 0;
    GDNPLAN_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total));
    return absl::ResourceExhaustedError(
        absl::StrCat("needs ", bytes, " bytes of GPU memory, of which ", free_bytes, " are free"));
  }
  GDNPLAN_CUDA_RETURN_IF_ERROR(error);
  return DeviceMemory(static_cast<std::byte*>(data), bytes);
}

absl::StatusOr<std::string> DeviceMemory::ExportIpcHandle() const {
  cudaIpcMemHandle_t handle;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaIpcGetMemHandle(&handle, data_.get()));
  return std::string(handle.reserved, sizeof(handle.reserved));
}

absl::StatusOr<PinnedMemory> PinnedMemory::Create(size_t bytes) {
  void* data = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&data, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return absl::ResourceExhaustedError(absl::StrCat(
        "needs ", bytes, " bytes of pinned host memory, which the system does not give"));
  }
  GDNPLAN_CUDA_RETURN_IF_ERROR(error);
  return PinnedMemory(static_cast<std::byte*>(data), bytes);
}

absl::StatusOr<ImportedMemory> ImportedMemory::Open(const std::string& handle) {
  cudaIpcMemHandle_t ipc;
  if (handle.size() != sizeof(ipc.reserved)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cuda_ipc.handle: must have ", sizeof(ipc.reserved), " bytes (got ", handle.size(), ")"));
  }
  std::memcpy(ipc.reserved, handle.data(), handle.size());
  void* data = nullptr;
  const cudaError_t error = cudaIpcOpenMemHandle(&data, ipc, cudaIpcMemLazyEnablePeerAccess);
  if (error == cudaErrorDeviceUninitialized) {
    static_cast<void>(cudaGetLastError());
    return absl::FailedPreconditionError(
        "CUDA takes the memory handle for one of this process's own: either this is the server's "
        "process, or both are the same PID in different PID namespaces (both PID 1 of their "
        "containers, say); start one of the two with another PID");
  }
  GDNPLAN_CUDA_RETURN_IF_ERROR(error);
  return ImportedMemory(static_cast<std::byte*>(data));
}

}  // namespace gdnplan::cuda
