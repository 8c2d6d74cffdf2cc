// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/cuda_arena.h"

#include <chrono>
#include <future>

#include "server/slot_ring.h"
#include "tests/testing/eventually.h"
#include "tests/testing/gpu_test.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::CudaArena;
using server::FillMode;
using server::TimelinePlace;

class CudaArenaTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const auto gpus = cuda::ListGpus();
    const auto boot = server::Boot::Create();
    ASSERT_TRUE(gpus.ok() && boot.ok());
    gpu_ = gpus->front();
    boot_ = *boot;
    ASSERT_EQ(cuda::PrepareFill(), cudaSuccess);
  }

  // A session's part that knows slots, with one arena; `arena` is that.
  server::SlotRing Open(FillMode fill, TimelinePlace timeline, CudaArena** arena = nullptr) {
    const plan::ArenaLayout layout = *plan::ArenaLayout::Create(config_, 1);
    auto made = CudaArena::Create(gpu_, {.config = config_, .layout = layout, .timeline = timeline},
                                  fill, *boot_);
    EXPECT_THAT(made, IsOk());
    if (arena != nullptr) *arena = made->get();
    std::vector<server::SessionArena> arenas;
    arenas.push_back({gpu_.uuid, *std::move(made)});
    return {config_, layout, /*guarded=*/true, std::move(arenas)};
  }

  // A session opens, plans, and ends.
  absl::Status LiveOnce(FillMode fill, TimelinePlace timeline) {
    server::SlotRing ring = Open(fill, timeline);
    const auto result = ring.Plan(batch_.view());
    if (!result.ok()) return result.status();
    const bool ready = Eventually([&] {
      const auto state = ring.IsReady(result->slot, result->timeline_value);
      return !state.ok() || *state;
    });
    return ready ? absl::OkStatus() : absl::DeadlineExceededError("not ready");
  }

  const plan::PlanConfig config_ = SampleConfig();
  const json::OwnedBatch batch_ = SampleBatch();
  cuda::GpuInfo gpu_;
  std::shared_ptr<server::Boot> boot_;
};

// CUDA frees nothing while a stream of the process waits, and lets no other call through meanwhile.
TEST_F(CudaArenaTest, AConsumerThatNeverConsumesKeepsNoOtherSessionFromAnything) {
  for (const FillMode fill : {FillMode::kCopy, FillMode::kKernel}) {
    for (const TimelinePlace timeline : {TimelinePlace::kArena, TimelinePlace::kHostPage}) {
      CudaArena* arena = nullptr;
      server::SlotRing stuck = Open(fill, timeline, &arena);
      ASSERT_THAT(stuck.Plan(batch_.view()), IsOk());
      stuck.Promise(1);
      ASSERT_TRUE(stuck.NextSlotFree());
      const auto second = stuck.Plan(batch_.view());
      ASSERT_THAT(second, IsOk());
      EXPECT_TRUE(stuck.HasDeferred());

      auto others = std::async(std::launch::async, [&] {
        for (const TimelinePlace place : {TimelinePlace::kArena, TimelinePlace::kHostPage}) {
          if (absl::Status status = LiveOnce(fill, place); !status.ok()) return status;
        }
        return absl::OkStatus();
      });
      EXPECT_EQ(others.wait_for(std::chrono::seconds(60)), std::future_status::ready);
      EXPECT_TRUE(stuck.HasDeferred());
      EXPECT_FALSE(*stuck.IsReady(0, second->timeline_value));

      // Another consumer takes its place.
      arena->ReleaseConsumer();
      EXPECT_THAT(stuck.Advance(), IsOk());
      EXPECT_FALSE(stuck.HasDeferred());
      EXPECT_TRUE(Eventually([&] { return *stuck.IsReady(0, second->timeline_value); }));
      EXPECT_THAT(others.get(), IsOk());
    }
  }
}

TEST_F(CudaArenaTest, EndsWithAWriteThatStillWaits) {
  for (const TimelinePlace timeline : {TimelinePlace::kArena, TimelinePlace::kHostPage}) {
    server::SlotRing ring = Open(FillMode::kAuto, timeline);
    ASSERT_THAT(ring.Plan(batch_.view()), IsOk());
    ring.Promise(1);
    ASSERT_THAT(ring.Plan(batch_.view()), IsOk());
    EXPECT_TRUE(ring.HasDeferred());
  }
}

}  // namespace
}  // namespace gdnplan::test
