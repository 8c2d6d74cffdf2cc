// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Followers of a session's plans.
#include "server/rpc/plan_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/server/plan_stream_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class Follower {
 public:
  Follower(v1::Planner::Stub& stub, const std::string& session_id) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
    v1::WatchPlansRequest request;
    request.set_session_id(session_id);
    reader_ = stub.WatchPlans(&context_, request);
  }
  ~Follower() {
    if (finished_) return;
    Cancel();
    Finish().IgnoreError();
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Nothing: the watch ended.
  std::optional<v1::WatchPlansResponse> Read() {
    v1::WatchPlansResponse response;
    if (!reader_->Read(&response)) return std::nullopt;
    return response;
  }
  // The first message.
  uint64_t ReadLastPlanId() {
    const auto first = Read();
    EXPECT_TRUE(first.has_value());
    if (!first.has_value()) return 0;
    EXPECT_FALSE(first->has_plan());
    EXPECT_EQ(first->num_missed(), 0u);
    return first->last_plan_id();
  }
  void Cancel() { context_.TryCancel(); }
  // Once.
  absl::Status Finish() {
    finished_ = true;
    return ToAbsl(reader_->Finish());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchPlansResponse>> reader_;
  bool finished_ = false;
};

class PlanWatchTest : public StreamServerTest {
 protected:
  void SetUp() override {
    Start({device_});
    id_ = Open(2).session_id();
  }
  v1::Plan Plan() {
    const auto plan = client_->Plan(id_, batch_);
    EXPECT_THAT(plan, IsOk());
    return plan.value_or(v1::Plan());
  }
  v1::Plan Update(uint64_t plan_id) {
    v1::UpdateBlockTableRequest request;
    request.set_session_id(id_);
    request.set_plan_id(plan_id);
    wire::ToProto(batch_.view().block_tables[0], *request.mutable_block_table());
    const auto response = client_->Call(&v1::Planner::Stub::UpdateBlockTable, request);
    EXPECT_THAT(response, IsOk());
    return response.ok() ? response->plan() : v1::Plan();
  }
  static void ExpectAnnounced(Follower& follower, v1::Plan plan) {
    const auto message = follower.Read();
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->num_missed(), 0u);
    EXPECT_EQ(message->last_plan_id(), 0u);
    v1::Plan announced = message->plan();
    announced.clear_server_time_ns();
    plan.clear_server_time_ns();
    EXPECT_EQ(announced.SerializeAsString(), plan.SerializeAsString());
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>("fake");
  const json::OwnedBatch batch_ = SampleBatch();
  std::string id_;
};

INSTANTIATE_TEST_SUITE_P(All, PlanWatchTest, ::testing::ValuesIn(kStreamSetups), SetupName);

TEST_P(PlanWatchTest, TheFirstMessageSaysWhatWasBefore) {
  Follower first(stub(), id_);
  EXPECT_EQ(first.ReadLastPlanId(), 0u);
  Plan();
  Plan();
  Follower second(stub(), id_);
  EXPECT_EQ(second.ReadLastPlanId(), 2u);
}

TEST_P(PlanWatchTest, EveryFollowerSeesEveryPlanAndUpdateInOrder) {
  std::vector<std::unique_ptr<Follower>> followers;
  for (int i = 0; i < 3; ++i) {
    followers.push_back(std::make_unique<Follower>(stub(), id_));
    EXPECT_EQ(followers.back()->ReadLastPlanId(), 0u);
  }
  std::vector<v1::Plan> plans;
  for (int i = 0; i < 10; ++i) {
    plans.push_back(Plan());
    plans.push_back(Update(plans.back().plan_id()));
    EXPECT_EQ(plans.back().plan_id(), plans[plans.size() - 2].plan_id());
    EXPECT_GT(plans.back().timeline_value(), plans[plans.size() - 2].timeline_value());
  }
  for (const auto& follower : followers) {
    for (const v1::Plan& plan : plans) ExpectAnnounced(*follower, plan);
  }
}

TEST_P(PlanWatchTest, PlansOfAStreamAreAnnouncedAndRefusedOnesAreNot) {
  Follower follower(stub(), id_);
  EXPECT_EQ(follower.ReadLastPlanId(), 0u);
  StreamClient stream(stub(), id_);
  json::OwnedBatch bad = batch_;
  bad.seq_lens[0] = 2;
  for (uint64_t tag = 0; tag < 10; ++tag) {
    ASSERT_TRUE(stream.Send(tag, tag % 2 == 0 ? bad : batch_));
    const auto plan = stream.Read(tag);
    EXPECT_EQ(plan.ok(), tag % 2 != 0);
    if (plan.ok()) ExpectAnnounced(follower, *plan);
  }
}

TEST_P(PlanWatchTest, AFollowerThatDoesNotReadMissesTheOldestAndIsToldHowMany) {
  Follower follower(stub(), id_);
  EXPECT_EQ(follower.ReadLastPlanId(), 0u);
  constexpr uint64_t kPlans = 2'000;
  // None of them waits for the follower.
  for (uint64_t i = 0; i < kPlans; ++i) Plan();
  uint64_t received = 0;
  uint64_t missed = 0;
  uint64_t last = 0;
  while (last < kPlans) {
    const auto message = follower.Read();
    ASSERT_TRUE(message.has_value());
    ++received;
    missed += message->num_missed();
    EXPECT_EQ(message->plan().plan_id(), last + message->num_missed() + 1);
    last = message->plan().plan_id();
  }
  EXPECT_EQ(received + missed, kPlans);
  // Within the process nothing buffers, so it missed all but the kept ones and those on their way.
  if (!GetParam().socket) {
    EXPECT_LE(received, server::PlanWatch::kMaxKept + 2);
  }
  // It goes on as if nothing had been.
  ExpectAnnounced(follower, Plan());
}

TEST_P(PlanWatchTest, ASessionsEndIsToldAfterItsPlans) {
  Follower follower(stub(), id_);
  EXPECT_EQ(follower.ReadLastPlanId(), 0u);
  const std::vector<v1::Plan> plans = {Plan(), Plan(), Plan()};
  ASSERT_THAT(client_->Close(id_), IsOk());
  for (const v1::Plan& plan : plans) ExpectAnnounced(follower, plan);
  EXPECT_FALSE(follower.Read().has_value());
  EXPECT_THAT(follower.Finish(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
}

TEST_P(PlanWatchTest, ADevicesFailureEndsTheWatch) {
  Follower follower(stub(), id_);
  EXPECT_EQ(follower.ReadLastPlanId(), 0u);
  device_->fail_writes = true;
  EXPECT_FALSE(client_->Plan(id_, batch_).ok());
  EXPECT_FALSE(follower.Read().has_value());
  EXPECT_THAT(follower.Finish(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("a device failed")));
  // So does following one that has ended.
  Follower late(stub(), id_);
  EXPECT_FALSE(late.Read().has_value());
  EXPECT_THAT(late.Finish(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(PlanWatchTest, UnknownSessionsAreNotFound) {
  Follower follower(stub(), "nobody");
  EXPECT_FALSE(follower.Read().has_value());
  EXPECT_THAT(follower.Finish(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
}

TEST_P(PlanWatchTest, FollowersAreLimitedAndACancelledOneMakesRoom) {
  std::vector<std::unique_ptr<Follower>> followers;
  for (int i = 0; i < server::Limits{}.max_followers; ++i) {
    followers.push_back(std::make_unique<Follower>(stub(), id_));
    ASSERT_EQ(followers.back()->ReadLastPlanId(), 0u);
  }
  Follower refused(stub(), id_);
  EXPECT_FALSE(refused.Read().has_value());
  EXPECT_THAT(refused.Finish(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("followers")));
  // A session of another number is not full.
  Follower elsewhere(stub(), Open().session_id());
  EXPECT_EQ(elsewhere.ReadLastPlanId(), 0u);
  followers.pop_back();
  EXPECT_TRUE(Eventually([&] { return Follower(stub(), id_).Read().has_value(); }));
}

TEST_P(PlanWatchTest, ACancelledFollowerHoldsNothingUp) {
  auto reading = std::make_unique<Follower>(stub(), id_);
  auto lazy = std::make_unique<Follower>(stub(), id_);
  EXPECT_EQ(reading->ReadLastPlanId(), 0u);
  EXPECT_EQ(lazy->ReadLastPlanId(), 0u);
  for (int i = 0; i < 100; ++i) Plan();
  reading->Cancel();
  while (reading->Read().has_value()) continue;
  EXPECT_THAT(reading->Finish(), StatusIs(absl::StatusCode::kCancelled));
  lazy.reset();
  EXPECT_EQ(Plan().plan_id(), 101u);
  ASSERT_THAT(client_->Close(id_), IsOk());
  EXPECT_EQ(device_->live_arenas, 0);
  server_->Shutdown(kLongGrace);
}

TEST_P(PlanWatchTest, ShutdownEndsWatchesAtOnce) {
  Follower follower(stub(), id_);
  EXPECT_EQ(follower.ReadLastPlanId(), 0u);
  ExpectAnnounced(follower, Plan());
  server_->Shutdown(kLongGrace);
  EXPECT_FALSE(follower.Read().has_value());
  EXPECT_THAT(follower.Finish(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_P(PlanWatchTest, ShutdownDoesNotWaitForAFollowerThatDoesNotRead) {
  Follower follower(stub(), id_);
  for (int i = 0; i < 2'000; ++i) Plan();
  server_->Shutdown(milliseconds(20));
  EXPECT_EQ(device_->live_arenas, 0);
}

// Whatever the moment: before the first message, while plans are kept, while one is written.
TEST_P(PlanWatchTest, FollowersMayComeAndGoWhileSessionsPlanAndEnd) {
  for (int round = 0; round < 40; ++round) {
    const std::string id = Open(2).session_id();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 4; ++i) {
          Follower follower(stub(), id);
          for (int j = 0; j < (t + i) % 3; ++j) follower.Read();
        }
        Follower last(stub(), id);
        while (last.Read().has_value()) continue;
        EXPECT_THAT(last.Finish(), StatusIs(absl::StatusCode::kNotFound));
      });
    }
    for (int i = 0; i < round % 10; ++i) EXPECT_THAT(client_->Plan(id, batch_), IsOk());
    EXPECT_THAT(client_->Close(id), IsOk());
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_TRUE(Eventually([&] { return server_->registry().size() == 1; }));
}

TEST_P(PlanWatchTest, TheServerMayShutDownWhileFollowersCome) {
  if (!GetParam().socket) GTEST_SKIP() << "gRPC's channels within the process outlive no server";
  std::vector<std::thread> threads;
  std::atomic<int> begun = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (true) {
        Follower follower(stub(), id_);
        if (!follower.Read().has_value()) return;
        ++begun;
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return begun > 20; }));
  server_->Shutdown(kLongGrace);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gdnplan::test
