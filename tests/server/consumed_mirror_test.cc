// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/consumed_mirror.h"

#include <optional>

#include "gdnplan/cuda/timeline.h"
#include "tests/testing/gpu_test.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

class ConsumedMirrorTest : public GpuTest {
 protected:
  void Open(int32_t num_slots) {
    const auto layout = plan::ArenaLayout::Create(SampleConfig(), num_slots);
    ASSERT_THAT(layout, IsOk());
    layout_ = *layout;
    auto memory = cuda::DeviceMemory::Create(static_cast<size_t>(layout_->arena_bytes));
    auto stream = cuda::Stream::Create();
    ASSERT_TRUE(memory.ok() && stream.ok());
    memory_ = *std::move(memory);
    stream_ = *std::move(stream);
    // What is not `consumed` must not be taken for it.
    ASSERT_EQ(cudaMemset(memory_->data(), 0xEE, memory_->size()), cudaSuccess);
    for (int32_t slot = 0; slot < num_slots; ++slot) Write(slot, 0);
    auto mirror = server::ConsumedMirror::Create(*layout_, memory_->data());
    ASSERT_THAT(mirror, IsOk());
    mirror_ = *std::move(mirror);
  }
  void Write(int32_t slot, uint64_t value) {
    ASSERT_THAT(cuda::WriteValue(*stream_, memory_->data() + layout_->consumed_offset(slot), value),
                IsOk());
    ASSERT_THAT(stream_->view().Synchronize(), IsOk());
  }
  void Fetch() {
    ASSERT_THAT(mirror_->Fetch(*stream_), IsOk());
    ASSERT_THAT(stream_->view().Synchronize(), IsOk());
    EXPECT_FALSE(mirror_->fetching());
  }

  std::optional<plan::ArenaLayout> layout_;
  std::optional<cuda::DeviceMemory> memory_;
  std::optional<cuda::Stream> stream_;
  std::optional<server::ConsumedMirror> mirror_;
};

TEST_F(ConsumedMirrorTest, HasWhatWasFetchedOfEachSlot) {
  for (const int32_t num_slots : {1, 2, 5}) {
    Open(num_slots);
    for (int32_t slot = 0; slot < num_slots; ++slot) {
      const uint64_t value = (uint64_t{3} << 40) + static_cast<uint64_t>(slot);
      Write(slot, value);
      EXPECT_EQ(mirror_->value(slot), 0u);
      Fetch();
      EXPECT_EQ(mirror_->value(slot), value);
    }
  }
}

TEST_F(ConsumedMirrorTest, HasOneFetchUnderWayAtATime) {
  Open(1);
  // The stream stands still until the test lets it go.
  const auto gate = cuda::PinnedMemory::Create(64);
  ASSERT_THAT(gate, IsOk());
  auto& open = *new (gate->data()) std::atomic<uint64_t>(0);
  ASSERT_THAT(cuda::WaitValue(*stream_, gate->data(), 1), IsOk());
  EXPECT_FALSE(mirror_->fetching());
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(mirror_->Fetch(*stream_), IsOk());
    EXPECT_TRUE(mirror_->fetching());
  }
  open = 1;
  ASSERT_THAT(stream_->view().Synchronize(), IsOk());
  EXPECT_FALSE(mirror_->fetching());
  Write(0, 7);
  Fetch();
  EXPECT_EQ(mirror_->value(0), 7u);
}

}  // namespace
}  // namespace gdnplan::test
