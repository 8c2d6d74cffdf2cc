// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Once warm, a session plans without allocating.
#include <gtest/gtest.h>

#include "server/host_device.h"
#include "server/session.h"
#include "tests/server/session_testing.h"
#include "tests/testing/allocation_counter.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

TEST(SessionAllocationTest, PlansAndUpdatesAllocateNothing) {
  const auto boot = server::Boot::Create().value();
  server::FatalError fatal;
  server::SessionPoller poller;
  server::SessionOptions options;
  options.config = SampleConfig();
  options.num_slots = 2;
  options.guarded = true;
  const auto session =
      server::Session::Create(
          {}, options,
          {std::make_shared<server::HostDevice>(boot),
           std::make_shared<server::HostDevice>(boot, server::HostDevice::Options{.index = 1})},
          poller, fatal)
          .value();
  ClientArena first(session->arenas()[0].handle, session->layout());
  ClientArena second(session->arenas()[1].handle, session->layout());
  const json::OwnedBatch batches[] = {SampleBatch(), SampleDecodes()};
  const plan::BatchView views[] = {batches[0].view(), batches[1].view()};
  int64_t before = 0;
  for (int i = 0; i < 100; ++i) {
    if (i == 4) before = AllocationCount();
    TestCall plan(views[i % 2]);
    session->Submit(plan);
    const auto planned = plan.Wait();
    TestCall update(server::UpdateInput{planned->plan_id, 0, views[i % 2].block_tables[0]});
    session->Submit(update);
    const auto updated = update.Wait();
    first.Consume(updated->slot, updated->timeline_value);
    second.Consume(updated->slot, updated->timeline_value);
  }
  EXPECT_EQ(AllocationCount() - before, 0);
  EXPECT_EQ(session->statistics().num_plans, 100u);
}

}  // namespace
}  // namespace gdnplan::test
