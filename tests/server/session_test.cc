// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session on host memory: ids, slots, bytes, refusals, updates.
#include "server/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "server/host_device.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::FillKind;
using server::HostDevice;
using server::PlanResult;
using server::Session;
using server::SessionOptions;
using ::testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  std::shared_ptr<Session> Open(int32_t num_slots, int num_devices = 1) {
    Session::Devices devices;
    for (int i = 0; i < num_devices; ++i) {
      devices.push_back(std::make_shared<HostDevice>(boot_, HostDevice::Options{.index = i}));
    }
    SessionOptions options;
    options.config = SampleConfig();
    options.num_slots = num_slots;
    auto session = Session::Create({.id = "id", .number = 7}, options, devices, poller_, fatal_);
    EXPECT_THAT(session, IsOk());
    return *session;
  }

  std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
  server::FatalError fatal_;
  server::SessionPoller poller_;
};

TEST_F(SessionTest, PlanIdsRiseAndSlotsTakeTurns) {
  const auto session = Open(2);
  for (uint64_t id = 1; id <= 5; ++id) {
    const auto result = Plan(*session, SampleBatch());
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->plan_id, id);
    EXPECT_EQ(result->timeline_value, id);
    EXPECT_EQ(result->slot, static_cast<int32_t>((id - 1) % 2));
    EXPECT_EQ(result->slot_offset, session->layout().slot_offset(result->slot));
    EXPECT_EQ(result->fill, FillKind::kHost);
    EXPECT_TRUE(result->complete);
    EXPECT_GT(result->server_time_ns, 0u);
  }
  const server::SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.num_plans, 5u);
  EXPECT_EQ(statistics.last_plan_id, 5u);
  EXPECT_EQ(statistics.num_refused, 0u);
  EXPECT_GE(statistics.age, statistics.idle);
}

TEST_F(SessionTest, EveryDeviceHoldsThePlan) {
  const auto session = Open(2, 3);
  ASSERT_EQ(session->arenas().size(), 3u);
  EXPECT_EQ(session->arenas()[0].device.id, "host");
  EXPECT_EQ(session->arenas()[2].device.id, "host:2");
  PlannedSlot expected(SampleConfig());
  for (const json::OwnedBatch& batch : {SampleBatch(), SampleDecodes(), SampleBatch()}) {
    ASSERT_THAT(expected.Plan(batch.view()), IsOk());
    const auto result = Plan(*session, batch);
    ASSERT_THAT(result, IsOk());
    for (const server::ArenaDescription& arena : session->arenas()) {
      const ClientArena mapped(arena.handle, session->layout());
      EXPECT_EQ(mapped.ready(result->slot), result->timeline_value);
      ExpectHolds(*result, mapped, expected);
    }
  }
}

TEST_F(SessionTest, RefusalChangesNothing) {
  const auto session = Open(1);
  ASSERT_THAT(Plan(*session, SampleBatch()), IsOk());
  const ClientArena arena(session->arenas()[0].handle, session->layout());
  const std::vector<std::byte> before(arena.bytes().begin(), arena.bytes().end());
  json::OwnedBatch bad = SampleBatch();
  bad.seq_lens[0] = 1;
  EXPECT_THAT(Plan(*session, bad),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_lens[0]")));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), arena.bytes().begin()));
  EXPECT_EQ(session->statistics().num_refused, 1u);
  EXPECT_EQ(session->statistics().num_plans, 1u);
  EXPECT_EQ(Plan(*session, SampleBatch())->plan_id, 2u);
}

TEST_F(SessionTest, UpdateRewritesOneGroup) {
  const auto session = Open(1, 2);
  const json::OwnedBatch batch = SampleBatch();
  const auto planned = Plan(*session, batch);
  ASSERT_THAT(planned, IsOk());
  // A refused batch in between must not disturb the step that the slot holds.
  json::OwnedBatch bad = SampleDecodes();
  bad.seq_lens[0] = 0;
  ASSERT_THAT(Plan(*session, bad), StatusIs(absl::StatusCode::kInvalidArgument));

  json::OwnedBlockTable table = batch.block_tables[0];
  for (int32_t& id : table.block_ids) id += id < 0 ? 0 : 100;
  const auto updated =
      Update(*session, {.plan_id = planned->plan_id, .group = 0, .table = table.view()});
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->plan_id, planned->plan_id);
  EXPECT_EQ(updated->slot, planned->slot);
  EXPECT_EQ(updated->timeline_value, planned->timeline_value + 1);

  PlannedSlot expected(SampleConfig());
  ASSERT_THAT(expected.Plan(batch.view()), IsOk());
  ASSERT_THAT(expected.Regather(0, table.view()), IsOk());
  for (const server::ArenaDescription& arena : session->arenas()) {
    const ClientArena mapped(arena.handle, session->layout());
    EXPECT_EQ(mapped.ready(0), updated->timeline_value);
    ExpectHolds(*updated, mapped, expected);
  }
  // The counter is one for both.
  EXPECT_EQ(Plan(*session, batch)->plan_id, updated->timeline_value + 1);
  EXPECT_EQ(session->statistics().num_plans, 2u);
}

TEST_F(SessionTest, UpdateIsRefused) {
  const auto session = Open(2);
  const json::OwnedBatch batch = SampleBatch();
  const plan::BlockTableView table = batch.block_tables[0].view();
  EXPECT_THAT(Update(*session, {.plan_id = 1, .group = 0, .table = table}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("plan_id")));
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Plan(*session, batch), IsOk());
  EXPECT_THAT(Update(*session, {.plan_id = 0, .group = 0, .table = table}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("plan_id")));
  EXPECT_THAT(Update(*session, {.plan_id = 4, .group = 0, .table = table}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1..3 (got 4)")));
  EXPECT_THAT(Update(*session, {.plan_id = 1, .group = 0, .table = table}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("plan 1 any more")));
  EXPECT_THAT(Update(*session, {.plan_id = 3, .group = 2, .table = table}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("group")));
  EXPECT_THAT(Update(*session, {.plan_id = 3, .group = 1, .table = table}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("block_table")));
  EXPECT_THAT(Update(*session, {.plan_id = 2, .group = 0, .table = table}), IsOk());
}

TEST_F(SessionTest, CloseFreesTheMemoryAndEndsLaterCalls) {
  const auto session = Open(1, 2);
  ASSERT_THAT(Plan(*session, SampleBatch()), IsOk());
  const server::MemoryHandle handle = session->arenas()[1].handle;
  const ClientArena mapped(handle, session->layout());
  EXPECT_TRUE(Exists(handle));
  session->Close(absl::NotFoundError("closed"));
  session->Close(absl::InternalError("the first reason counts"));
  EXPECT_FALSE(Exists(handle));
  // A mapping of before stays readable.
  EXPECT_EQ(mapped.ready(0), 1u);
  EXPECT_THAT(Plan(*session, SampleBatch()), StatusIs(absl::StatusCode::kNotFound, "closed"));
  EXPECT_THAT(session->ReleaseConsumers({}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(session->statistics().num_plans, 1u);
}

TEST_F(SessionTest, RefusesWhatCannotBeOpened) {
  const Session::Devices devices = {std::make_shared<HostDevice>(boot_)};
  SessionOptions options;
  EXPECT_THAT(Session::Create({}, options, devices, poller_, fatal_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_num_seqs")));
  options.config = SampleConfig();
  options.num_slots = 65;
  EXPECT_THAT(Session::Create({}, options, devices, poller_, fatal_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_slots")));
}

TEST_F(SessionTest, ManyThreadsPlan) {
  constexpr int kThreads = 4;
  constexpr int kPlans = 50;
  const auto session = Open(3, 2);
  std::vector<std::vector<uint64_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<uint64_t>& mine : ids) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPlans; ++i) mine.push_back(Plan(*session, SampleBatch())->plan_id);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const std::vector<uint64_t>& mine : ids) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kPlans));
  EXPECT_EQ(*all.rbegin(), static_cast<uint64_t>(kThreads * kPlans));
}

TEST_F(SessionTest, CloseWhileThreadsPlan) {
  for (int round = 0; round < 10; ++round) {
    auto session = Open(2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([session] {
        while (Plan(*session, SampleBatch()).ok()) {
        }
      });
    }
    ASSERT_TRUE(Eventually([&] { return session->statistics().num_plans > 10; }));
    session->Close(absl::NotFoundError("closed"));
    session.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace gdnplan::test
