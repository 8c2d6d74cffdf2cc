// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Steps are made while a load is measured: once warm that allocates nothing.
#include <gmock/gmock.h>

#include <vector>

#include "client/load/scheduler.h"
#include "client/load/shape_source.h"
#include "tests/testing/allocation_counter.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

int64_t AllocationsOf(StepSource& source, int warm, int steps) {
  Step step;
  bool all_made = true;
  for (int i = 0; i < warm; ++i) all_made = source.Next(step) && all_made;
  const int64_t before = test::AllocationCount();
  for (int i = 0; i < steps; ++i) all_made = source.Next(step) && all_made;
  const int64_t after = test::AllocationCount();
  EXPECT_TRUE(all_made);
  return after - before;
}

// A source over a scheduler whose counts the test reads.
class SchedulerSource : public StepSource {
 public:
  explicit SchedulerSource(Scheduler& scheduler) : scheduler_(scheduler) {}
  const plan::PlanConfig& config() const override { return scheduler_.config(); }
  bool Next(Step& step) override { return scheduler_.Next(step); }

 private:
  Scheduler& scheduler_;
};

TEST(StepsMemoryTest, ShapesAllocateOnlyAtFirst) {
  ShapeOptions options;
  for (const char* text : {"decode=200,k=3,groups=4", "spec=100,prefill=8x1024,padded=3"}) {
    const auto shape = ParseShape(text);
    ASSERT_THAT(shape, test::IsOk());
    options.shapes.push_back(*shape);
  }
  const auto source = ShapeSource::Create(options);
  ASSERT_THAT(source, test::IsOk());
  EXPECT_EQ(AllocationsOf(**source, 2, 100), 0);
}

TEST(StepsMemoryTest, SchedulersAllocateOnlyAtFirst) {
  for (const plan::MambaCacheMode mode :
       {plan::MambaCacheMode::kNone, plan::MambaCacheMode::kAlign}) {
    SchedulerOptions options;
    options.max_num_seqs = 32;
    options.num_speculative_tokens = 2;
    options.groups = 2;
    options.mamba_cache_mode = mode;
    options.block_size = 16;
    options.num_blocks = 1000;
    options.prefix_rate = 0.3;
    // All alike, so that every slot has soon seen the largest request.
    const std::vector<Request> requests(2000, {0, 300, 200});
    const auto scheduler = Scheduler::Create(requests, options);
    ASSERT_THAT(scheduler, test::IsOk());
    SchedulerSource source(**scheduler);
    EXPECT_EQ(AllocationsOf(source, 3000, 1000), 0);
    EXPECT_GT((*scheduler)->stats().preemptions, 0);
  }
}

}  // namespace
}  // namespace gdnplan::load
