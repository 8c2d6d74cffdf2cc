// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/timeline.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "gdnplan/cuda/device_guard.h"
#include "gdnplan/cuda/memory.h"
#include "tests/testing/gpu_test.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::GpuTest;
using test::IsOk;

// A value in device or pinned memory, and two streams.
class TimelineTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    auto device = DeviceMemory::Create(64);
    auto pinned = PinnedMemory::Create(64);
    auto one = Stream::Create();
    auto two = Stream::Create();
    ASSERT_TRUE(device.ok() && pinned.ok() && one.ok() && two.ok());
    device_ = *std::move(device);
    pinned_ = *std::move(pinned);
    one_ = *std::move(one);
    two_ = *std::move(two);
    ASSERT_EQ(cudaMemset(device_->data(), 0, 64), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::memset(pinned_->data(), 0, 64);
  }

  static bool IsDone(const Stream& stream) {
    return cudaStreamQuery(stream.view().get()) == cudaSuccess;
  }
  static void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

  // Stream one goes on only when stream two has written enough.
  void ExpectOrder(void* value) {
    ASSERT_THAT(WaitValue(*one_, value, 5), IsOk());
    Pause();
    EXPECT_FALSE(IsDone(*one_));
    ASSERT_THAT(WriteValue(*two_, value, 4), IsOk());
    ASSERT_THAT(two_->view().Synchronize(), IsOk());
    Pause();
    EXPECT_FALSE(IsDone(*one_));
    ASSERT_THAT(WriteValue(*two_, value, 6), IsOk());
    EXPECT_THAT(one_->view().Synchronize(), IsOk());
    // What has been reached is not waited for.
    ASSERT_THAT(WaitValue(*one_, value, 6), IsOk());
    EXPECT_THAT(one_->view().Synchronize(), IsOk());
  }

  std::optional<DeviceMemory> device_;
  std::optional<PinnedMemory> pinned_;
  std::optional<Stream> one_;
  std::optional<Stream> two_;
};

TEST_F(TimelineTest, OrdersStreamsByAValueInDeviceMemory) { ExpectOrder(device_->data()); }

TEST_F(TimelineTest, OrdersStreamsByAValueInPinnedMemory) { ExpectOrder(pinned_->data()); }

TEST_F(TimelineTest, HasAll64Bits) {
  constexpr uint64_t kHigh = uint64_t{1} << 40;
  ASSERT_THAT(WaitValue(*one_, device_->data(), kHigh), IsOk());
  ASSERT_THAT(WriteValue(*two_, device_->data(), 0xFFFF'FFFF), IsOk());
  ASSERT_THAT(two_->view().Synchronize(), IsOk());
  Pause();
  EXPECT_FALSE(IsDone(*one_));
  ASSERT_THAT(WriteValue(*two_, device_->data(), kHigh + 1), IsOk());
  EXPECT_THAT(one_->view().Synchronize(), IsOk());
}

TEST_F(TimelineTest, ACpuReleasesAndSeesAStream) {
  std::atomic_ref<uint64_t> value(*reinterpret_cast<uint64_t*>(pinned_->data()));
  std::atomic_ref<uint64_t> after(*reinterpret_cast<uint64_t*>(pinned_->data() + 8));
  ASSERT_THAT(WaitValue(*one_, pinned_->data(), 1), IsOk());
  ASSERT_THAT(WriteValue(*one_, pinned_->data() + 8, 77), IsOk());
  Pause();
  EXPECT_EQ(after.load(), 0U);
  value.store(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (after.load() != 77 && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_EQ(after.load(), 77U);
}

// The write comes after a transfer's bytes, wherever these come from.
TEST_F(TimelineTest, AWriteFollowsTheWorkBeforeIt) {
  constexpr size_t kLarge = 32 << 20;
  auto from = PinnedMemory::Create(kLarge);
  auto to = DeviceMemory::Create(kLarge);
  auto back = PinnedMemory::Create(kLarge);
  ASSERT_TRUE(from.ok() && to.ok() && back.ok());
  for (uint64_t round = 1; round <= 20; ++round) {
    const int pattern = static_cast<int>(round);
    std::memset(from->data(), pattern, kLarge);
    std::memset(back->data(), 0, kLarge);
    ASSERT_THAT(WaitValue(*one_, device_->data(), round), IsOk());
    ASSERT_EQ(cudaMemcpyAsync(back->data(), to->data(), kLarge, cudaMemcpyDeviceToHost,
                              one_->view().get()),
              cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(to->data(), from->data(), kLarge, cudaMemcpyHostToDevice,
                              two_->view().get()),
              cudaSuccess);
    ASSERT_THAT(WriteValue(*two_, device_->data(), round), IsOk());
    ASSERT_THAT(one_->view().Synchronize(), IsOk());
    ASSERT_EQ(std::memcmp(back->data(), from->data(), kLarge), 0) << "round " << round;
  }
}

// Servers answer from whatever thread is free: one that never used CUDA before has no context.
TEST_F(TimelineTest, WorksOnAThreadThatIsNewToCuda) {
  absl::Status wrote;
  absl::Status waited;
  std::thread([&] {
    const auto guard = DeviceGuard::Create(0);
    ASSERT_TRUE(guard.ok()) << guard.status();
    wrote = WriteValue(*one_, device_->data(), 3);
  }).join();
  std::thread([&] {
    const auto guard = DeviceGuard::Create(0);
    ASSERT_TRUE(guard.ok()) << guard.status();
    waited = WaitValue(*two_, device_->data(), 3);
  }).join();
  EXPECT_THAT(wrote, IsOk());
  EXPECT_THAT(waited, IsOk());
  if (wrote.ok() && waited.ok()) {
    EXPECT_THAT(two_->view().Synchronize(), IsOk());
  }
}

// A worker's thread does not hold a guard.
TEST_F(TimelineTest, WorksOnAThreadThatIsNewToCudaAndHasNoGuard) {
  absl::Status wrote;
  std::thread([&] { wrote = WriteValue(*one_, device_->data(), 3); }).join();
  EXPECT_THAT(wrote, IsOk());
}

}  // namespace
}  // namespace gdnplan::cuda
