// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Owners of memory. Move only; destructors free and do not wait for work that still uses the
// memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gdnplan/cuda/status.h"

namespace gdnplan::cuda {

// A plain allocation on a device: not from a pool, so that it has a legacy IPC handle of its own.
class DeviceMemory {
 public:
  // On the current device. ResourceExhausted names the bytes asked and free.
  static absl::StatusOr<DeviceMemory> Create(size_t bytes);

  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  // The bytes of a cudaIpcMemHandle_t, for processes other than this one.
  absl::StatusOr<std::string> ExportIpcHandle() const;

 private:
  struct Deleter {
    void operator()(std::byte* data) const noexcept { LogIfError(cudaFree(data), "cudaFree"); }
  };
  DeviceMemory(std::byte* data, size_t size) : data_(data), size_(size) {}

  std::unique_ptr<std::byte, Deleter> data_;
  size_t size_;
};

// Page-locked host memory that every device sees at its host address.
class PinnedMemory {
 public:
  static absl::StatusOr<PinnedMemory> Create(size_t bytes);

  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Deleter {
    void operator()(std::byte* data) const noexcept {
      LogIfError(cudaFreeHost(data), "cudaFreeHost");
    }
  };
  PinnedMemory(std::byte* data, size_t size) : data_(data), size_(size) {}

  std::unique_ptr<std::byte, Deleter> data_;
  size_t size_;
};

// Memory of another process, opened by its handle. Writable: a legacy handle gives away its whole
// block.
class ImportedMemory {
 public:
  // On the current device, which must be the exporter's. FailedPrecondition when CUDA says that the
  // handle is this very process's; the same error comes when two processes of equal PIDs live in
  // different PID namespaces, and the text says so.
  static absl::StatusOr<ImportedMemory> Open(const std::string& handle);

  std::byte* data() const { return data_.get(); }

 private:
  struct Deleter {
    void operator()(std::byte* data) const noexcept {
      LogIfError(cudaIpcCloseMemHandle(data), "cudaIpcCloseMemHandle");
    }
  };
  explicit ImportedMemory(std::byte* data) : data_(data) {}

  std::unique_ptr<std::byte, Deleter> data_;
};

}  // namespace gdnplan::cuda
