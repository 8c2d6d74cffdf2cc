// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's description, checked: every place in it lies within the arenas.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gdnplan/client/types.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::client {

struct PosixSharedMemory {
  std::string name;  // for shm_open
};
struct CudaIpcMemory {
  std::string handle;       // the bytes of a cudaIpcMemHandle_t
  std::string device_uuid;  // of the exporting GPU
  uint32_t exporter_pid = 0;
};

// A session's memory on one device. monostate: a handle of a kind that this library does not know.
struct ArenaInfo {
  DeviceInfo device;
  std::variant<std::monostate, PosixSharedMemory, CudaIpcMemory> memory;
  uint64_t offset = 0;  // bytes from the mapping's start to the arena's
  uint64_t size = 0;    // bytes of the arena
  uint64_t generation = 0;
  // The page of host memory that holds the timeline values; absent: they are in the arena.
  std::optional<PosixSharedMemory> timeline_page;
};

// One row of the session's table of tensors.
struct TensorInfo {
  uint32_t id = 0;
  std::string name;
  plan::DType dtype = plan::DType::kInt32;
  bool per_group = false;
  int rank = 1;
  std::string shape;  // the dimensions in words
  uint64_t max_elements = 0;
};

// Places of the slots' timeline values, in bytes from the start of the arena or of its page.
struct TimelineInfo {
  uint64_t ready_offset = 0;
  uint64_t consumed_offset = 0;
  uint64_t promised_offset = 0;
  uint64_t stride = 0;
};

struct SessionInfo {
  // Whoever knows it may attach: send it to the engine's own processes only.
  std::string session_id;
  std::string boot_id;      // 32 hexadecimal digits
  plan::PlanConfig config;  // as the server completed it
  int32_t num_slots = 1;
  int32_t capture_limit = 0;
  std::vector<ArenaInfo> arenas;  // one per device, at least one
  std::vector<TensorInfo> tensors;
  TimelineInfo timeline;
  uint64_t arena_bytes = 0;
  std::chrono::milliseconds lease{0};  // 0: never lapses
};

}  // namespace gdnplan::client
