// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Sessions whose owners are gone, and what a server lets its clients have.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "server/host_device.h"
#include "server/session_registry.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::HostDevice;
using server::Limits;
using server::Session;
using server::SessionOptions;
using server::SessionRegistry;
using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

// So long that only a time that a test gives lapses.
constexpr server::LeaseTimes kLong{.length = hours(10), .grace = hours(1)};

SessionOptions LeasedOptions() {
  SessionOptions options;
  options.config = SampleConfig();
  return options;
}

class EndListener final : public server::PlanFollower {
 public:
  void OnPlan(const server::PlanResult& /*result*/) override {}
  void OnEnd(const absl::Status& reason) override { end = reason; }
  absl::Status end;
};

class SessionLapseTest : public ::testing::Test {
 protected:
  static SessionRegistry::Clock::time_point In(SessionRegistry::Clock::duration time) {
    return SessionRegistry::Clock::now() + time;
  }

  std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
  std::vector<uint64_t> lapsed_;
  SessionRegistry registry_{
      boot_,
      {std::make_shared<HostDevice>(boot_)},
      {.max_sessions = 2},
      kLong,
      [this](const Session& session) { lapsed_.push_back(session.number()); }};
};

TEST_F(SessionLapseTest, ASessionThatNobodyUsedEnds) {
  const auto session = registry_.Open(LeasedOptions(), {}).value();
  const server::MemoryHandle memory = session->arenas()[0].handle;
  EndListener follower;
  ASSERT_THAT(session->Follow(follower), IsOk());
  registry_.Reap(In(hours(9)));
  EXPECT_THAT(registry_.Find(session->id()), IsOk());
  registry_.Reap(In(hours(11)));
  EXPECT_THAT(registry_.Find(session->id()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Plan(*session, SampleBatch()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("lease lapsed")));
  EXPECT_THAT(follower.end, StatusIs(absl::StatusCode::kNotFound, HasSubstr("lease lapsed")));
  EXPECT_FALSE(Exists(memory));
  EXPECT_EQ(registry_.num_lapsed(), 1u);
  EXPECT_EQ(lapsed_, std::vector<uint64_t>{session->number()});
}

TEST_F(SessionLapseTest, AnOpenStreamHoldsItAndABrokenOneHasTheGrace) {
  const auto session = registry_.Open(LeasedOptions(), {}).value();
  session->leases().Hold();
  registry_.Reap(In(hours(100)));
  ASSERT_THAT(registry_.Find(session->id()), IsOk());
  session->leases().Release(/*lost=*/true, SessionRegistry::Clock::now());
  registry_.Reap(In(milliseconds(0)));
  ASSERT_THAT(registry_.Find(session->id()), IsOk());
  // A plan is a sign of life.
  ASSERT_THAT(Plan(*session, SampleBatch()), IsOk());
  registry_.Reap(In(hours(2)));
  ASSERT_THAT(registry_.Find(session->id()), IsOk());
  session->leases().Hold();
  session->leases().Release(/*lost=*/true, SessionRegistry::Clock::now());
  registry_.Reap(In(hours(2)));
  EXPECT_THAT(registry_.Find(session->id()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SessionLapseTest, WaitingCallsOfADeadOwnerAreAnswered) {
  SessionOptions options = LeasedOptions();
  options.guarded = true;
  options.slot_wait = hours(20);
  const auto session = registry_.Open(options, {}).value();
  const json::OwnedBatch batch = SampleBatch();
  ASSERT_THAT(Plan(*session, batch), IsOk());
  TestCall waiting(batch.view());
  session->Submit(waiting);
  EXPECT_FALSE(waiting.IsDone());
  registry_.Reap(In(hours(11)));
  EXPECT_THAT(waiting.Wait(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("lease lapsed")));
}

TEST_F(SessionLapseTest, MemoryStaysForAttachedProcessesUntilTheyLetGo) {
  const auto session = registry_.Open(LeasedOptions(), {}).value();
  const server::MemoryHandle memory = session->arenas()[0].handle;
  const uint64_t attachment = session->leases().Attach(SessionRegistry::Clock::now());
  ASSERT_THAT(registry_.Close(session->id()), IsOk());
  EXPECT_TRUE(Exists(memory));
  registry_.Reap(In(milliseconds(0)));
  EXPECT_TRUE(Exists(memory));
  // It makes room for another one all the same.
  EXPECT_THAT(registry_.Open(LeasedOptions(), {}), IsOk());
  EXPECT_THAT(registry_.Open(LeasedOptions(), {}), IsOk());
  ASSERT_THAT(registry_.FindAny(session->id()), IsOk());
  ASSERT_THAT(session->leases().Detach(attachment), IsOk());
  registry_.Reap(In(milliseconds(0)));
  EXPECT_FALSE(Exists(memory));
  EXPECT_THAT(registry_.FindAny(session->id()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SessionLapseTest, ButNotLongerThanTheGrace) {
  const auto session = registry_.Open(LeasedOptions(), {}).value();
  const server::MemoryHandle memory = session->arenas()[0].handle;
  const uint64_t attachment = session->leases().Attach(SessionRegistry::Clock::now());
  ASSERT_THAT(session->leases().HoldAttached(attachment, SessionRegistry::Clock::now()), IsOk());
  ASSERT_THAT(registry_.Close(session->id()), IsOk());
  registry_.Reap(In(milliseconds(0)));
  EXPECT_TRUE(Exists(memory));
  registry_.Reap(In(hours(1)));
  EXPECT_FALSE(Exists(memory));
}

TEST_F(SessionLapseTest, ShuttingDownFreesAllAtOnce) {
  const auto session = registry_.Open(LeasedOptions(), {}).value();
  const auto ended = registry_.Open(LeasedOptions(), {}).value();
  for (const auto& one : {session, ended}) one->leases().Attach(SessionRegistry::Clock::now());
  ASSERT_THAT(registry_.Close(ended->id()), IsOk());
  EXPECT_TRUE(Exists(ended->arenas()[0].handle));
  registry_.CloseAll();
  EXPECT_FALSE(Exists(session->arenas()[0].handle));
  EXPECT_FALSE(Exists(ended->arenas()[0].handle));
}

TEST(SessionReaperTest, LapsesWithoutBeingAsked) {
  auto boot = server::Boot::Create().value();
  std::atomic<int> lapsed = 0;
  SessionRegistry registry(boot, {std::make_shared<HostDevice>(boot)}, {},
                           {.length = milliseconds(50), .grace = milliseconds(20)},
                           [&](const Session& /*session*/) { ++lapsed; });
  const auto session = registry.Open(LeasedOptions(), {}).value();
  EXPECT_TRUE(Eventually([&] { return lapsed == 1; }));
  EXPECT_TRUE(Eventually([&] { return !Exists(session->arenas()[0].handle); }));
  EXPECT_EQ(registry.size(), 0u);
}

class LimitsTest : public ::testing::Test {
 protected:
  absl::Status Open(const Limits& limits, int sessions = 1) {
    SessionRegistry registry(boot_, {std::make_shared<HostDevice>(boot_)}, limits);
    for (int i = 1; i < sessions; ++i) EXPECT_THAT(registry.Open(LeasedOptions(), {}), IsOk());
    const absl::Status status = registry.Open(LeasedOptions(), {}).status();
    EXPECT_EQ(registry.size(), static_cast<size_t>(sessions) - (status.ok() ? 0 : 1));
    return status;
  }

  const std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
  const plan::PlanConfig config_ = SampleConfig();
};

TEST_F(LimitsTest, OfTheConfiguration) {
  Limits limits{.max_num_seqs = config_.max_num_seqs,
                .max_num_batched_tokens = config_.max_num_batched_tokens,
                .max_groups = config_.num_groups(),
                .max_slots = 1};
  EXPECT_THAT(Open(limits), IsOk());
  const auto expect_refused = [&](int32_t Limits::*limit, const std::string& field) {
    Limits less = limits;
    less.*limit -= 1;
    EXPECT_THAT(
        Open(less),
        StatusIs(absl::StatusCode::kResourceExhausted,
                 AllOf(HasSubstr(field + ": this server allows " + std::to_string(less.*limit)),
                       HasSubstr("got " + std::to_string(limits.*limit)))));
  };
  expect_refused(&Limits::max_num_seqs, "max_num_seqs");
  expect_refused(&Limits::max_num_batched_tokens, "max_num_batched_tokens");
  expect_refused(&Limits::max_groups, "groups");
  expect_refused(&Limits::max_slots, "num_slots");
}

TEST_F(LimitsTest, OfBytes) {
  const auto bytes =
      static_cast<uint64_t>(plan::ArenaLayout::Create(config_, 1).value().arena_bytes);
  EXPECT_THAT(Open({.max_session_bytes = bytes}), IsOk());
  EXPECT_THAT(
      Open({.max_session_bytes = bytes - 1}),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-session-bytes; got")));
  EXPECT_THAT(Open({.max_device_bytes = 2 * bytes}, 2), IsOk());
  EXPECT_THAT(Open({.max_device_bytes = 2 * bytes - 1}, 2),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("device host: the session needs " + std::to_string(bytes)),
                             HasSubstr("--max-device-bytes"))));
}

TEST_F(LimitsTest, BytesComeBackWithTheMemory) {
  const auto bytes =
      static_cast<uint64_t>(plan::ArenaLayout::Create(config_, 1).value().arena_bytes);
  SessionRegistry registry(boot_, {std::make_shared<HostDevice>(boot_)},
                           {.max_device_bytes = bytes}, kLong);
  const auto session = registry.Open(LeasedOptions(), {}).value();
  const uint64_t attachment = session->leases().Attach(SessionRegistry::Clock::now());
  ASSERT_THAT(registry.Close(session->id()), IsOk());
  EXPECT_THAT(registry.Open(LeasedOptions(), {}), StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_THAT(session->leases().Detach(attachment), IsOk());
  registry.Reap(SessionRegistry::Clock::now());
  EXPECT_THAT(registry.Open(LeasedOptions(), {}), IsOk());
}

}  // namespace
}  // namespace gdnplan::test
