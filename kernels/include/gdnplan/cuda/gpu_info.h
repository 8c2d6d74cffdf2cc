// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The GPUs that this process sees and what each can do. Driver functions are looked up at run time,
// so that one binary runs with and without a driver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gdnplan::cuda {

struct GpuInfo {
  int ordinal = 0;   // in this process only
  std::string uuid;  // "GPU-..." or "MIG-...": what every process calls it
  std::string name;
  uint64_t memory_bytes = 0;
  bool mps = false;             // contexts are shared through MPS
  bool stream_waits = false;    // 64-bit wait and write operations on streams
  bool legacy_ipc = false;      // cudaIpcGetMemHandle
  bool second_process = false;  // the compute mode lets other processes in
};

// FailedPrecondition when there is no driver or no GPU. Makes no context.
absl::StatusOr<std::vector<GpuInfo>> ListGpus();

// The ordinal of a UUID in this process. NotFound lists what is visible.
absl::StatusOr<int> FindGpu(const std::string& uuid);

}  // namespace gdnplan::cuda
