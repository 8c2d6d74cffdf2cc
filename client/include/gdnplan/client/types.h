// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a server says of itself, in plain types.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gdnplan/plan/config.h"

namespace gdnplan::client {

// kUnknown: a kind that this version of the library has no name for.
enum class DeviceKind : uint8_t { kUnknown, kHost, kCuda };
enum class FillKind : uint8_t { kUnknown, kHost, kCopy, kKernel };
// kNone: the device has no choice.
enum class FillMode : uint8_t { kUnknown, kNone, kAuto, kCopy, kKernel };

// Where a CUDA session's timeline values are.
enum class TimelinePlace : uint8_t {
  kAuto,   // on a host page if this process can map the server's shared memory, else in the arena
  kArena,  // device memory: works between any two containers
  kHostPage,  // shared host memory: CPUs see the values too
};

std::string_view Name(DeviceKind kind);
std::string_view Name(FillKind kind);
std::string_view Name(FillMode mode);

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kUnknown;
  std::string id;    // "host", "host:1", ... or the GPU's UUID
  std::string name;  // for people
  uint64_t memory_bytes = 0;
  uint64_t available_bytes = 0;
  FillMode fill_mode = FillMode::kUnknown;
  bool mps = false;  // the server uses this GPU through MPS
  // Plans and re-gathers that the server has written there since its start.
  struct Fills {
    uint64_t host = 0;
    uint64_t copy = 0;
    uint64_t kernel = 0;
  } fills;
};

struct ServerInfo {
  std::string version;
  std::string boot_id;  // new with every server process
  std::vector<DeviceInfo> devices;
  struct Capabilities {
    bool plan_stream = false;
    bool watch_plans = false;
    bool cuda = false;
    bool timeline_waits = false;
  } capabilities;
  struct Limits {
    uint32_t max_sessions = 0;
    uint32_t max_message_bytes = 0;
    uint32_t max_groups = 0;
    uint32_t max_slots = 0;
    uint32_t max_plans_in_flight = 0;  // of a stream
    uint32_t max_streams = 0;          // at a time, of all clients
    uint32_t max_followers = 0;        // of a session
    // Of a session's configuration.
    uint32_t max_num_seqs = 0;
    uint32_t max_num_batched_tokens = 0;
    // Of a session on each of its devices, and of all of them on one. 0: what the device has.
    uint64_t max_session_bytes = 0;
    uint64_t max_device_bytes = 0;
  } limits;
  uint32_t num_sessions = 0;
  std::chrono::milliseconds uptime{0};
  std::string host_page_probe;         // a shared memory object that holds boot_id
  std::string poll;                    // how it waits for requests: "adaptive", "always" or "never"
  std::chrono::milliseconds lease{0};  // of sessions; 0: never lapses
  // That an owner whose stream broke has to come back.
  std::chrono::milliseconds grace{0};
  uint64_t num_leases_lapsed = 0;  // sessions that ended so since the server's start
};

// A session of the server as ListSessions shows it: without its id, so without the right to attach.
struct SessionSummary {
  uint64_t number = 0;  // rising within the server
  std::string name;
  plan::PlanConfig config;
  int32_t num_slots = 1;
  std::vector<std::string> devices;
  uint64_t arena_bytes = 0;  // on each device
  uint64_t num_plans = 0;
  uint64_t num_refused = 0;
  std::chrono::milliseconds age{0};
  std::chrono::milliseconds idle{0};
  uint32_t num_attached = 0;                // processes whose lease lives
  std::chrono::milliseconds lease_left{0};  // 0: it does not lapse
};

}  // namespace gdnplan::client
