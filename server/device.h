// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A device that plans can be written to, and a session's memory on it. Free of gRPC.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_input.h"
#include "server/fill_counter.h"
#include "server/fill_mode.h"

namespace gdnplan::server {

enum class DeviceKind : uint8_t { kHost, kCuda };

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kHost;
  std::string id;    // "host", "host:1", ... or the GPU's UUID
  std::string name;  // for people
  uint64_t memory_bytes = 0;
  uint64_t available_bytes = 0;
  std::optional<FillMode> fill_mode = std::nullopt;  // of a GPU
  bool mps = false;
  FillCounts fills = {};
};

// How another process opens an arena.
struct PosixSharedMemoryHandle {
  std::string name;
};
struct CudaIpcHandle {
  std::string handle;  // the bytes of a cudaIpcMemHandle_t
  std::string device_uuid;
  uint32_t exporter_pid = 0;
};
using MemoryHandle = std::variant<PosixSharedMemoryHandle, CudaIpcHandle>;

// One plan on its way into its slot. The references are valid during the call.
struct SlotWrite {
  int32_t slot = 0;
  // Only this group's state indices (a re-gather); -1: everything.
  int32_t group = -1;
  // What the slot's `ready` becomes after the bytes.
  uint64_t timeline_value = 0;
  // The slot is free once its `consumed` is at least this. The session has made sure that the value
  // has been, or is bound to be, reached.
  uint64_t after_consumed = 0;
  const plan::StepInput& input;
  const plan::PlanLayout& layout;
};

// What became of a write.
struct WriteResult {
  FillKind fill = FillKind::kHost;
  // Whether the bytes are in the slot and `ready` has its value as the call returns.
  bool complete = false;
};

// A session's memory on one device. Calls come one at a time, from any thread, and none of them
// blocks. The destructor waits for work in flight and frees.
class DeviceArena {
 public:
  virtual ~DeviceArena() = default;

  virtual MemoryHandle handle() const = 0;
  virtual uint64_t generation() const = 0;

  // Writes or enqueues. After an error the arena must not be used further: the session is closed.
  virtual absl::StatusOr<WriteResult> Write(const SlotWrite& write) = 0;
  // What the slot's `consumed` has reached or is bound to reach, as far as the CPU knows now.
  virtual uint64_t Consumed(int32_t slot) const = 0;
  // Whether Write has the staging memory that it needs. Never false for long while the device
  // works.
  virtual bool CanWrite() const { return true; }
  // A promise told by the planning client: every slot's `consumed` is bound to reach its values up
  // to this.
  virtual void Promise(uint64_t /*timeline_value*/) {}
  // The consumer is gone: all that it left unconsumed counts as consumed.
  virtual void ReleaseConsumer() = 0;
  // Of the page with the timeline values, if they are not in the arena.
  virtual std::optional<MemoryHandle> timeline_handle() const { return std::nullopt; }
  // Whether a write waits for its slot's consumer. Advance is called in short intervals
  // then; it enqueues what has become possible and returns whether there was such. An error is one
  // of Write's.
  virtual bool HasDeferred() const { return false; }
  // Whether it is about to know in a moment, and Advance is worth a call right then.
  virtual bool IsLooking() const { return false; }
  virtual absl::StatusOr<bool> Advance() { return false; }
  // Whether the slot's `ready` has reached the value. Asked in short intervals after a Write that
  // was not complete. An error, such as a fill that failed on the device, is one of Write's.
  virtual absl::StatusOr<bool> IsReady(int32_t slot, uint64_t timeline_value) = 0;
};

enum class TimelinePlace : uint8_t { kArena, kHostPage };

// References are valid during the call.
struct ArenaRequest {
  const plan::PlanConfig& config;
  const plan::ArenaLayout& layout;
  TimelinePlace timeline = TimelinePlace::kArena;
  // The session's arena on its first device, if this is on another: every write comes there first,
  // so that what is built for it on the host can be shared. It may go before this one.
  const DeviceArena* first = nullptr;
};

// Thread safe.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceInfo info() const = 0;
  // ResourceExhausted, with the bytes asked and available, when it does not fit. Zeroed and
  // initialised.
  virtual absl::StatusOr<std::unique_ptr<DeviceArena>> CreateArena(const ArenaRequest& request) = 0;

  // Counts what is written to its arenas, which may outlive it.
  const std::shared_ptr<FillCounter>& fills() const { return fills_; }

 private:
  const std::shared_ptr<FillCounter> fills_ = std::make_shared<FillCounter>();
};

}  // namespace gdnplan::server
