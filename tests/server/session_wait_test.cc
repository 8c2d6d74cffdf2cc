// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Sessions whose calls wait: for a slot's consumer, for a device, for an end.
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "server/host_device.h"
#include "server/session.h"
#include "server/slot_ring.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::Completion;
using server::Session;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

class SessionWaitTest : public ::testing::Test {
 protected:
  // On the fake device, guarded.
  std::shared_ptr<Session> Open(int32_t num_slots = 1,
                                milliseconds wait = std::chrono::minutes(1)) {
    server::SessionOptions options;
    options.config = SampleConfig();
    options.num_slots = num_slots;
    options.guarded = true;
    options.slot_wait = wait;
    auto session =
        Session::Create({.id = "id", .number = 1}, options, {device_, second_}, poller_, fatal_);
    EXPECT_THAT(session, IsOk());
    return *session;
  }
  void Consume(uint64_t value) { device_->consumed = second_->consumed = value; }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>("fake");
  std::shared_ptr<FakeDevice> second_ = std::make_shared<FakeDevice>("second");
  server::FatalError fatal_;
  server::SessionPoller poller_;
  const json::OwnedBatch batch_ = SampleBatch();
};

TEST_F(SessionWaitTest, WaitsForTheConsumerOfEveryDevice) {
  const auto session = Open();
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  TestCall call(batch_.view());
  session->Submit(call);
  device_->consumed = 1;
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(call.IsDone());
  EXPECT_EQ(device_->writes().size(), 1u);
  second_->consumed = 1;
  ASSERT_THAT(call.Wait(), IsOk());
  EXPECT_EQ(device_->writes().back().after_consumed, 1u);
  EXPECT_EQ(device_->writes().back().timeline_value, 2u);
}

TEST_F(SessionWaitTest, EnqueuesDeferredWritesAfterTheirAnswers) {
  const auto session = Open();
  device_->complete = false;
  device_->deferred = 1;
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  EXPECT_EQ(device_->deferred, 1);
  device_->advanced = 1;
  EXPECT_TRUE(Eventually([&] { return device_->deferred == 0; }));
}

TEST_F(SessionWaitTest, ThePlanItselfAwaitsADevicesLookAtItsConsumer) {
  const plan::PlanConfig config = SampleConfig();
  const auto layout = plan::ArenaLayout::Create(config, 1);
  ASSERT_THAT(layout, IsOk());
  std::vector<server::SessionArena> arenas;
  for (const auto& device : {device_, second_}) {
    arenas.push_back({"any", *device->CreateArena({.config = config, .layout = *layout})});
  }
  server::SlotRing ring(config, *layout, /*guarded=*/true, std::move(arenas));
  second_->deferred = second_->advanced = 1;
  second_->looks = 3;
  ASSERT_THAT(ring.Plan(batch_.view()), IsOk());
  EXPECT_EQ(second_->deferred, 0);
}

TEST_F(SessionWaitTest, ADeferredWriteThatFailsEndsTheSession) {
  const auto session = Open();
  device_->deferred = 1;
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  device_->fail_writes = true;
  EXPECT_TRUE(Eventually([&] { return device_->live_arenas == 0; }));
  EXPECT_THAT(Plan(*session, batch_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                               HasSubstr("a device failed and ended it")));
}

TEST_F(SessionWaitTest, WaitsForTheLastUpdateToo) {
  const auto session = Open();
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  ASSERT_THAT(Update(*session, {.plan_id = 1, .group = 0, .table = batch_.block_tables[0].view()}),
              IsOk());
  Consume(1);
  TestCall call(batch_.view());
  session->Submit(call);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(call.IsDone());
  Consume(2);
  EXPECT_EQ(call.Wait()->plan_id, 3u);
}

TEST_F(SessionWaitTest, FreshSlotsNeedNoConsumer) {
  const auto session = Open(3);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Plan(*session, batch_), IsOk());
}

TEST_F(SessionWaitTest, SaysWhoHoldsTheSlot) {
  const auto session = Open(1, milliseconds(3));
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  device_->consumed = 1;
  EXPECT_THAT(Plan(*session, batch_),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       ::testing::AllOf(HasSubstr("slot busy: slot 0 holds plan 1"),
                                        HasSubstr("on device second"), HasSubstr("consumed = 1"),
                                        HasSubstr("slot_wait_ms 3"), HasSubstr("num_slots"))));
  // It used nothing up.
  Consume(1);
  EXPECT_EQ(Plan(*session, batch_)->plan_id, 2u);
}

TEST_F(SessionWaitTest, RefusesABadBatchWithoutWaiting) {
  const auto session = Open();
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  json::OwnedBatch bad = batch_;
  bad.seq_lens[0] = 1;
  EXPECT_THAT(Plan(*session, bad), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SessionWaitTest, UpdatesDoNotQueueBehindPlans) {
  const auto session = Open();
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  TestCall waiting(batch_.view());
  session->Submit(waiting);
  EXPECT_THAT(Update(*session, {.plan_id = 1, .group = 0, .table = batch_.block_tables[0].view()}),
              IsOk());
  EXPECT_FALSE(waiting.IsDone());
  Consume(2);
  EXPECT_THAT(waiting.Wait(), IsOk());
}

TEST_F(SessionWaitTest, KeepsTheOrderOfRequests) {
  const auto session = Open();
  std::deque<TestCall> calls;
  for (int i = 0; i < 8; ++i) session->Submit(calls.emplace_back(batch_.view()));
  for (uint64_t id = 1; id <= 8; ++id) {
    const auto result = calls[id - 1].Wait();
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->plan_id, id);
    EXPECT_TRUE(id == 8 || !calls[id].IsDone());
    Consume(id);
  }
}

TEST_F(SessionWaitTest, BoundsTheQueue) {
  const auto session = Open();
  std::deque<TestCall> calls;
  for (int i = 0; i < 1 + Session::kMaxWaiting; ++i) {
    session->Submit(calls.emplace_back(batch_.view()));
  }
  EXPECT_THAT(Plan(*session, batch_),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("wait already")));
  session->Close(absl::UnavailableError("over"));
  EXPECT_THAT(calls.front().Wait(), IsOk());
  for (size_t i = 1; i < calls.size(); ++i) {
    EXPECT_THAT(calls[i].Wait(), StatusIs(absl::StatusCode::kUnavailable, "over"));
  }
}

TEST_F(SessionWaitTest, DropsAbandonedCalls) {
  const auto session = Open();
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  TestCall given_up(batch_.view());
  TestCall next(batch_.view());
  session->Submit(given_up);
  session->Submit(next);
  given_up.Abandon();
  EXPECT_THAT(given_up.Wait(), StatusIs(absl::StatusCode::kCancelled));
  Consume(1);
  EXPECT_EQ(next.Wait()->plan_id, 2u);
}

TEST_F(SessionWaitTest, AnswersBeforeOrAfterTheDevice) {
  device_->complete = false;
  const auto session = Open(2);
  const auto enqueued = Plan(*session, batch_);
  ASSERT_THAT(enqueued, IsOk());
  EXPECT_FALSE(enqueued->complete);
  TestCall call(batch_.view());
  call.completion = Completion::kWait;
  session->Submit(call);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(call.IsDone());
  device_->ready = second_->ready = 2;
  const auto waited = call.Wait();
  ASSERT_THAT(waited, IsOk());
  EXPECT_TRUE(waited->complete);
  EXPECT_EQ(waited->fill, server::FillKind::kCopy);
}

TEST_F(SessionWaitTest, ClosesOnceTheDeviceIsDone) {
  device_->complete = false;
  const auto session = Open();
  TestCall call(batch_.view());
  call.completion = Completion::kWait;
  session->Submit(call);
  session->Close(absl::NotFoundError("closed"));
  EXPECT_EQ(device_->live_arenas, 1);
  EXPECT_THAT(Plan(*session, batch_), StatusIs(absl::StatusCode::kNotFound));
  device_->ready = second_->ready = 1;
  EXPECT_THAT(call.Wait(), IsOk());
  EXPECT_TRUE(Eventually([&] { return device_->live_arenas == 0; }));
}

TEST_F(SessionWaitTest, AWriteErrorEndsTheSession) {
  const auto session = Open(2);
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  second_->fail_writes = true;
  EXPECT_THAT(Plan(*session, batch_),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("write failed")));
  second_->fail_writes = false;
  EXPECT_THAT(Plan(*session, batch_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       ::testing::AllOf(HasSubstr("write failed"), HasSubstr("open a new one"))));
  EXPECT_EQ(device_->live_arenas, 0);
}

TEST_F(SessionWaitTest, AFillErrorEndsTheSession) {
  device_->complete = false;
  const auto session = Open(2);
  std::deque<TestCall> calls;
  for (int i = 0; i < 4; ++i) {
    calls.emplace_back(batch_.view()).completion = Completion::kWait;
    session->Submit(calls.back());
  }
  device_->fail_ready = true;
  EXPECT_THAT(calls[0].Wait(), StatusIs(absl::StatusCode::kInternal, HasSubstr("fill failed")));
  for (int i = 1; i < 4; ++i) {
    EXPECT_THAT(calls[static_cast<size_t>(i)].Wait(),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fill failed")));
  }
  EXPECT_TRUE(Eventually([&] { return device_->live_arenas == 0; }));
}

TEST_F(SessionWaitTest, AFillErrorIsNoBusySlot) {
  const auto session = Open(1, milliseconds(5));
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  second_->fail_ready = true;
  EXPECT_THAT(Plan(*session, batch_),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("fill failed")));
  EXPECT_THAT(Plan(*session, batch_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("fill failed")));
}

TEST_F(SessionWaitTest, WaitsForStagingMemory) {
  const auto session = Open(2);
  ASSERT_THAT(Plan(*session, batch_), IsOk());
  second_->can_write = false;
  TestCall update(server::UpdateInput{1, 0, batch_.block_tables[0].view()});
  TestCall plan(batch_.view());
  session->Submit(update);
  session->Submit(plan);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(update.IsDone());
  EXPECT_FALSE(plan.IsDone());
  second_->can_write = true;
  EXPECT_EQ(update.Wait()->timeline_value, 2u);
  EXPECT_EQ(plan.Wait()->plan_id, 3u);
}

TEST_F(SessionWaitTest, PassesPromisesAndReleasesOn) {
  const auto session = Open();
  TestCall call(batch_.view());
  call.consumption_promised = 9;
  session->Submit(call);
  EXPECT_EQ(device_->promised, 9u);
  EXPECT_EQ(second_->promised, 9u);
  EXPECT_THAT(session->ReleaseConsumers({"second"}), IsOk());
  EXPECT_EQ(device_->releases, 0);
  EXPECT_EQ(second_->releases, 1);
  EXPECT_THAT(session->ReleaseConsumers({"third"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("third")));
}

TEST_F(SessionWaitTest, ManyWaitersDoNotHoldUpOthers) {
  std::vector<std::shared_ptr<Session>> stuck;
  std::deque<TestCall> calls;
  for (int i = 0; i < 32; ++i) {
    stuck.push_back(Open());
    ASSERT_THAT(Plan(*stuck.back(), batch_), IsOk());
    stuck.back()->Submit(calls.emplace_back(batch_.view()));
  }
  auto boot = server::Boot::Create().value();
  server::SessionOptions options;
  options.config = SampleConfig();
  const auto busy =
      Session::Create({}, options, {std::make_shared<server::HostDevice>(boot)}, poller_, fatal_)
          .value();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) ASSERT_THAT(Plan(*busy, batch_), IsOk());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  Consume(1);
  for (TestCall& call : calls) EXPECT_THAT(call.Wait(), IsOk());
}

}  // namespace
}  // namespace gdnplan::test
