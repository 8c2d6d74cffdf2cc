// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the tests of sessions share: calls that wait, a client's mapping of an arena, a device that
// does what the test says.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "client/json/owned_batch.h"
#include "gdnplan/plan/arena.h"
#include "server/boot.h"
#include "server/device.h"
#include "server/mutex.h"
#include "server/session.h"
#include "tests/testing/eventually.h"
#include "tests/testing/planned_slot.h"

namespace gdnplan::test {

// A call whose answer the test can wait for.
class TestCall final : public server::SessionCall {
 public:
  explicit TestCall(const plan::BatchView& batch) { input = batch; }
  explicit TestCall(const server::UpdateInput& update) { input = update; }

  absl::StatusOr<server::PlanResult> Wait();
  bool IsDone() const;
  void Abandon() { abandoned_ = true; }

  void Done(const absl::StatusOr<server::PlanResult>& result) override;
  bool Abandoned() const override { return abandoned_; }

 private:
  mutable server::Mutex mutex_;
  server::CondVar done_;
  std::optional<absl::StatusOr<server::PlanResult>> result_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> abandoned_ = false;
};

absl::StatusOr<server::PlanResult> Plan(
    server::Session& session, const json::OwnedBatch& batch,
    server::Completion completion = server::Completion::kEnqueued);
absl::StatusOr<server::PlanResult> Update(server::Session& session,
                                          const server::UpdateInput& update);

// An arena in shared memory as another process maps it.
class ClientArena {
 public:
  ClientArena(const server::MemoryHandle& handle, const plan::ArenaLayout& layout);
  ~ClientArena();
  ClientArena(const ClientArena&) = delete;
  ClientArena& operator=(const ClientArena&) = delete;

  plan::ArenaHeader header() const;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::span<const std::byte> slot(int32_t index) const;
  uint64_t ready(int32_t slot) const { return timeline(slot).ready.load(); }
  void Consume(int32_t slot, uint64_t value) { timeline(slot).consumed.store(value); }

 private:
  plan::SlotTimeline& timeline(int32_t slot) const;

  const plan::ArenaLayout layout_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Whether shared memory of that handle still has its name.
bool Exists(const server::MemoryHandle& handle);

// Expects each tensor of the plan to be in the slot as `expected` has it.
void ExpectHolds(const server::PlanResult& result, const ClientArena& arena,
                 const PlannedSlot& expected);

// A device without memory, which may be slow or fail. Outlives its arenas' use in a test. Atomics,
// for the session's threads look at them.
class FakeDevice final : public server::Device {
 public:
  struct Write {
    int32_t slot;
    int32_t group;
    uint64_t timeline_value;
    uint64_t after_consumed;
  };

  explicit FakeDevice(std::string id) : id_(std::move(id)) {}

  server::DeviceInfo info() const override;
  absl::StatusOr<std::unique_ptr<server::DeviceArena>> CreateArena(
      const server::ArenaRequest& request) override;

  std::vector<Write> writes() const;

  std::atomic<bool> complete = true;   // whether writes are as they return
  std::atomic<uint64_t> ready = 0;     // of every slot
  std::atomic<uint64_t> consumed = 0;  // of every slot
  std::atomic<uint64_t> promised = 0;  // what the arena was told
  std::atomic<bool> can_write = true;
  std::atomic<int> deferred = 0;  // writes that wait on the CPU
  std::atomic<int> advanced = 0;  // of them, those that may go
  std::atomic<int> looks = 0;     // how often it says that it is looking
  std::atomic<bool> fail_writes = false;
  std::atomic<bool> fail_ready = false;
  std::atomic<bool> fail_create = false;
  std::atomic<bool> no_memory = false;  // creating and writing throw bad_alloc
  std::atomic<bool> sticky = false;     // what failures are
  std::atomic<bool> hang = false;       // whoever asks for readiness meanwhile
  std::atomic<int> releases = 0;
  std::atomic<int> live_arenas = 0;

 private:
  class Arena;
  absl::Status Error(const char* text) const;

  const std::string id_;
  mutable server::Mutex mutex_;
  std::vector<Write> writes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gdnplan::test
