// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Plans over a stream, through every way in which the server waits. How streams end is in
// plan_stream_end_test.cc.
#include "server/rpc/plan_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "gdnplan/plan/arena.h"
#include "server/host_device.h"
#include "tests/server/plan_stream_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/sample_batch.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

using server::PlanStream;
using ::testing::HasSubstr;

constexpr uint64_t kInFlight = PlanStream::kMaxInFlight;

class PlanStreamTest : public StreamServerTest {
 protected:
  void StartHost() {
    const auto boot = server::Boot::Create().value();
    Start(boot, {std::make_shared<server::HostDevice>(boot)});
  }
  void StartFake() { Start({device_}); }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>("fake");
  const json::OwnedBatch batch_ = SampleBatch();
};

INSTANTIATE_TEST_SUITE_P(All, PlanStreamTest, ::testing::ValuesIn(kStreamSetups), SetupName);

// What differs from one request to the next of the same batch.
std::string WithoutTimes(v1::Plan plan) {
  plan.clear_server_time_ns();
  return plan.SerializeAsString();
}

TEST_P(PlanStreamTest, PlansWhatTheUnaryCallPlans) {
  StartHost();
  Random random(20240);
  const plan::PlanConfig config = RandomConfig(random);
  v1::OpenSessionRequest open;
  *open.mutable_config() = wire::ToProto(config, 3);
  const auto session = client_->Open(open);
  ASSERT_THAT(session, IsOk());
  const auto other = client_->Open(open);
  ASSERT_THAT(other, IsOk());
  const plan::ArenaLayout layout = plan::ArenaLayout::Create(config, 3).value();
  const ClientArena arena(
      server::PosixSharedMemoryHandle{session->arenas(0).memory().posix_shared_memory().name()},
      layout);
  PlannedSlot expected(config);
  StreamClient stream(stub(), session->session_id());
  for (uint64_t tag = 1; tag <= 30; ++tag) {
    const json::OwnedBatch batch = RandomBatch(config, random);
    ASSERT_TRUE(stream.Send(tag, batch));
    const auto plan = stream.Read(tag);
    ASSERT_THAT(plan, IsOk());
    EXPECT_GT(plan->server_time_ns(), 0u);
    const auto unary = client_->Plan(other->session_id(), batch);
    ASSERT_THAT(unary, IsOk());
    EXPECT_EQ(WithoutTimes(*plan), WithoutTimes(*unary));

    ASSERT_THAT(expected.Plan(batch.view()), IsOk());
    server::PlanResult result;
    result.slot = static_cast<int32_t>(plan->slot());
    result.counts = wire::FromProto(plan->counts(), plan->staging());
    result.layout = expected.layout();
    EXPECT_EQ(arena.ready(result.slot), plan->timeline_value());
    ExpectHolds(result, arena, expected);
  }
}

TEST_P(PlanStreamTest, AnswersInTheOrderOfRequestsWithTheirTags) {
  StartHost();
  constexpr uint64_t kRequests = 200;
  StreamClient stream(stub(), Open().session_id());
  json::OwnedBatch bad = batch_;
  bad.seq_lens[0] = 2;
  std::thread sender([&] {
    for (uint64_t i = 0; i < kRequests; ++i) {
      EXPECT_TRUE(stream.Send(i * 7, i % 5 == 3 ? bad : batch_));
    }
  });
  uint64_t id = 0;
  for (uint64_t i = 0; i < kRequests; ++i) {
    const auto plan = stream.Read(i * 7);
    if (i % 5 == 3) {
      EXPECT_THAT(plan, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_lens[0]")));
    } else if (plan.ok()) {
      EXPECT_EQ(plan->plan_id(), ++id);
    } else {
      ADD_FAILURE() << plan.status();
    }
  }
  sender.join();
  EXPECT_EQ(id, kRequests - kRequests / 5);
}

TEST_P(PlanStreamTest, ARefusedRequestIsAnsweredAndTheNextOneServed) {
  StartHost();
  StreamClient stream(stub(), Open().session_id());
  const struct {
    const char* field;
    void (*break_it)(v1::PlanStreamRequest&);
  } cases[] = {
      {"seq_lens[0]", [](auto& r) { r.mutable_batch()->set_seq_lens(0, 2); }},
      {"seq_lens", [](auto& r) { r.clear_batch(); }},
      {"kind", [](auto& r) { r.mutable_batch()->set_kind(static_cast<v1::BatchKind>(7)); }},
      {"block_tables", [](auto& r) { r.mutable_batch()->clear_block_tables(); }},
      {"completion", [](auto& r) { r.set_completion(static_cast<v1::Completion>(7)); }},
  };
  uint64_t tag = 0;
  uint64_t id = 0;
  for (const auto& c : cases) {
    v1::PlanStreamRequest request = stream.Request(++tag, batch_);
    c.break_it(request);
    ASSERT_TRUE(stream.Send(request));
    EXPECT_THAT(stream.Read(tag), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.field)));
    ASSERT_TRUE(stream.Send(++tag, batch_));
    const auto plan = stream.Read(tag);
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(plan->plan_id(), ++id);
  }
}

TEST_P(PlanStreamTest, OnlyTheFirstRequestNamesTheSession) {
  StartHost();
  StreamClient stream(stub(), Open().session_id());
  ASSERT_TRUE(stream.Send(1, batch_));
  ASSERT_THAT(stream.Read(1), IsOk());
  v1::PlanStreamRequest request = stream.Request(2, batch_);
  for (const char* id : {"", "another"}) {
    request.set_session_id(id);
    ASSERT_TRUE(stream.Send(request));
    ASSERT_THAT(stream.Read(2), IsOk());
  }
}

TEST_P(PlanStreamTest, ReadsNoMoreThanItMayHaveInFlight) {
  StartFake();
  StreamClient stream(stub(), Open(1, 60'000).session_id());
  ASSERT_TRUE(stream.Send(0, batch_));
  ASSERT_THAT(stream.Read(0), IsOk());
  constexpr uint64_t kRequests = 3 * kInFlight;
  std::thread sender([&] {
    for (uint64_t i = 1; i <= kRequests; ++i) {
      v1::PlanStreamRequest request = stream.Request(i, batch_);
      // The session takes note of this as the request arrives: so the test sees how far it got.
      request.set_consumption_promised(i);
      EXPECT_TRUE(stream.Send(request));
    }
  });
  EXPECT_TRUE(Eventually([&] { return device_->promised == kInFlight; }));
  // Whatever the server would have read it reads before it answers these.
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(client_->Call(&v1::Planner::Stub::GetServerInfo, v1::GetServerInfoRequest()),
                IsOk());
    EXPECT_EQ(device_->promised, kInFlight);
  }
  for (uint64_t i = 1; i <= kRequests; ++i) {
    device_->consumed = i;
    const auto plan = stream.Read(i);
    if (plan.ok()) {
      EXPECT_EQ(plan->plan_id(), i + 1);
    } else {
      ADD_FAILURE() << plan.status();
    }
    EXPECT_LE(device_->promised, kInFlight + i + 1);
  }
  sender.join();
}

TEST_P(PlanStreamTest, BusySlotsAreRefusedPlanByPlan) {
  StartFake();
  StreamClient stream(stub(), Open(1, 1).session_id());
  ASSERT_TRUE(stream.Send(0, batch_));
  ASSERT_THAT(stream.Read(0), IsOk());
  for (uint64_t tag = 1; tag <= 5; ++tag) ASSERT_TRUE(stream.Send(tag, batch_));
  for (uint64_t tag = 1; tag <= 5; ++tag) {
    EXPECT_THAT(stream.Read(tag),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("slot busy")));
  }
  device_->consumed = 1;
  ASSERT_TRUE(stream.Send(6, batch_));
  const auto plan = stream.Read(6);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->plan_id(), 2u);
}

TEST_P(PlanStreamTest, LaterPlansAreMadeWhileAnEarlierOneWaitsForCompletion) {
  StartFake();
  device_->complete = false;
  StreamClient stream(stub(), Open(4).session_id());
  v1::PlanStreamRequest request = stream.Request(1, batch_);
  request.set_completion(v1::COMPLETION_WAIT);
  ASSERT_TRUE(stream.Send(request));
  ASSERT_TRUE(stream.Send(2, batch_));
  // One write for each group of both.
  EXPECT_TRUE(Eventually([&] {
    const auto writes = device_->writes();
    return !writes.empty() && writes.back().timeline_value == 2;
  }));
  device_->ready = 1;
  const auto first = stream.Read(1);
  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(first->complete());
  const auto second = stream.Read(2);
  ASSERT_THAT(second, IsOk());
  EXPECT_FALSE(second->complete());
}

TEST_P(PlanStreamTest, TwoStreamsShareASession) {
  StartHost();
  const std::string session = Open().session_id();
  constexpr uint64_t kRequests = 100;
  std::vector<uint64_t> ids[2];
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&] {
      StreamClient stream(stub(), session);
      for (uint64_t i = 0; i < kRequests; ++i) {
        EXPECT_TRUE(stream.Send(i, batch_));
        const auto plan = stream.Read(i);
        EXPECT_THAT(plan, IsOk());
        if (plan.ok()) mine.push_back(plan->plan_id());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> all;
  for (const auto& mine : ids) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 2 * kRequests);
  for (uint64_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i + 1);
}

TEST_P(PlanStreamTest, ManyStreamsWorkAtOnce) {
  StartHost();
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      StreamClient stream(stub(), Open().session_id());
      for (uint64_t tag = 1; tag <= 50; ++tag) {
        // Four at a time.
        for (uint64_t j = 0; j < 4; ++j) EXPECT_TRUE(stream.Send(4 * tag + j, batch_));
        for (uint64_t j = 0; j < 4; ++j) EXPECT_THAT(stream.Read(4 * tag + j), IsOk());
      }
      EXPECT_TRUE(stream.CloseRequests());
      EXPECT_FALSE(stream.Read().has_value());
      EXPECT_THAT(stream.Finish(), IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gdnplan::test
