// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/server/session_testing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>
#include <variant>

#include "gdnplan/plan/status.h"

namespace gdnplan::test {

using server::PlanResult;

absl::StatusOr<PlanResult> TestCall::Wait() {
  server::MutexLock lock(mutex_);
  while (!result_.has_value()) done_.Wait(mutex_);
  return *result_;
}

bool TestCall::IsDone() const {
  server::MutexLock lock(mutex_);
  return result_.has_value();
}

void TestCall::Done(const absl::StatusOr<PlanResult>& result) {
  // Notifies under the lock: the waiter may destroy this as soon as it has it.
  server::MutexLock lock(mutex_);
  EXPECT_FALSE(result_.has_value());
  result_ = result;
  done_.NotifyAll();
}

absl::StatusOr<PlanResult> Plan(server::Session& session, const json::OwnedBatch& batch,
                                server::Completion completion) {
  TestCall call(batch.view());
  call.completion = completion;
  session.Submit(call);
  return call.Wait();
}

absl::StatusOr<PlanResult> Update(server::Session& session, const server::UpdateInput& update) {
  TestCall call(update);
  session.Submit(call);
  return call.Wait();
}

namespace {

const std::string& NameOf(const server::MemoryHandle& handle) {
  return std::get<server::PosixSharedMemoryHandle>(handle).name;
}

}  // namespace

ClientArena::ClientArena(const server::MemoryHandle& handle, const plan::ArenaLayout& layout)
    : layout_(layout), size_(static_cast<size_t>(layout.arena_bytes)) {
  const int fd = shm_open(NameOf(handle).c_str(), O_RDWR | O_CLOEXEC, 0);
  EXPECT_GE(fd, 0) << std::strerror(errno);
  void* address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT_NE(address, MAP_FAILED) << std::strerror(errno);
  data_ = static_cast<std::byte*>(address);
  close(fd);
}

ClientArena::~ClientArena() { munmap(data_, size_); }

plan::ArenaHeader ClientArena::header() const {
  plan::ArenaHeader header;
  std::memcpy(&header, data_, sizeof(header));
  return header;
}

std::span<const std::byte> ClientArena::slot(int32_t index) const {
  return bytes().subspan(static_cast<size_t>(layout_.slot_offset(index)),
                         static_cast<size_t>(layout_.slot.slot_bytes));
}

plan::SlotTimeline& ClientArena::timeline(int32_t slot) const {
  return *reinterpret_cast<plan::SlotTimeline*>(data_ + layout_.ready_offset(slot));
}

bool Exists(const server::MemoryHandle& handle) {
  const int fd = shm_open(NameOf(handle).c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

void ExpectHolds(const PlanResult& result, const ClientArena& arena, const PlannedSlot& expected) {
  EXPECT_EQ(result.counts, expected.counts());
  EXPECT_EQ(result.layout, expected.layout());
  const auto groups = expected.planner().config().num_groups();
  for (const plan::TensorSpec& spec : plan::TensorTable()) {
    for (int32_t group = 0; group < (spec.per_group ? groups : 1); ++group) {
      const auto got = ReadTensor(result.layout, arena.slot(result.slot), spec.id, group);
      const auto want = expected.Read(spec.id, group);
      ASSERT_EQ(got.has_value(), want.has_value()) << spec.name;
      if (!want.has_value()) continue;
      EXPECT_EQ(got->dims, want->dims) << spec.name;
      EXPECT_EQ(got->data, want->data) << spec.name << " of group " << group;
    }
  }
}

class FakeDevice::Arena final : public server::DeviceArena {
 public:
  explicit Arena(FakeDevice& device) : device_(device) { ++device_.live_arenas; }
  ~Arena() override { --device_.live_arenas; }

  server::MemoryHandle handle() const override { return server::PosixSharedMemoryHandle{"/none"}; }
  uint64_t generation() const override { return 1; }
  absl::StatusOr<server::WriteResult> Write(const server::SlotWrite& write) override {
    if (device_.fail_writes) return device_.Error("the fake's write failed");
    if (device_.no_memory) throw std::bad_alloc();
    server::MutexLock lock(device_.mutex_);
    device_.writes_.push_back(
        {write.slot, write.group, write.timeline_value, write.after_consumed});
    return server::WriteResult{.fill = server::FillKind::kCopy, .complete = device_.complete};
  }
  uint64_t Consumed(int32_t /*slot*/) const override { return device_.consumed; }
  bool CanWrite() const override { return device_.can_write; }
  void Promise(uint64_t timeline_value) override { device_.promised = timeline_value; }
  void ReleaseConsumer() override { ++device_.releases; }
  bool HasDeferred() const override { return device_.deferred > 0; }
  bool IsLooking() const override { return device_.looks > 0 && device_.looks-- > 0; }
  absl::StatusOr<bool> Advance() override {
    if (device_.fail_writes) return device_.Error("the fake's write failed");
    const int count = device_.advanced.exchange(0);
    device_.deferred -= count;
    return count > 0;
  }
  absl::StatusOr<bool> IsReady(int32_t /*slot*/, uint64_t timeline_value) override {
    while (device_.hang) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (device_.fail_ready) return device_.Error("the fake's fill failed");
    return device_.ready >= timeline_value;
  }

 private:
  FakeDevice& device_;
};

absl::Status FakeDevice::Error(const char* text) const {
  absl::Status error = absl::InternalError(text);
  return sticky ? plan::MakeSticky(std::move(error)) : error;
}

server::DeviceInfo FakeDevice::info() const {
  return {.kind = server::DeviceKind::kHost, .id = id_, .name = "fake", .fills = fills()->counts()};
}

absl::StatusOr<std::unique_ptr<server::DeviceArena>> FakeDevice::CreateArena(
    const server::ArenaRequest& /*request*/) {
  if (fail_create) return Error("the fake's memory failed");
  if (no_memory) throw std::bad_alloc();
  return std::make_unique<Arena>(*this);
}

std::vector<FakeDevice::Write> FakeDevice::writes() const {
  server::MutexLock lock(mutex_);
  return writes_;
}

}  // namespace gdnplan::test
