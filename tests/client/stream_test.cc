// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// PlanStream and PlanFollower over a faked server.
#include <array>
#include <chrono>
#include <thread>

#include "tests/client/stream_testing.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""ms;

using StreamTest = StreamTestBase;

TEST_F(StreamTest, SendsTheSessionOnceAndRisingTags) {
  PlanStream stream = Open();
  const std::array<int32_t, 2> seq_lens = {3, 4};
  batch_.seq_lens = seq_lens;
  server_->Plan(1, plan_);
  const auto plan = stream.Plan(batch_, {.wait_complete = true, .consumption_promised = 9});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->id(), 5u);
  EXPECT_THAT(plan->Tensor<int32_t>("spec_state_indices", 1)->span(), ElementsAre(24, 25, 26, 27));
  EXPECT_THAT(session_->MarkConsumed(*plan), IsOk()) << "a plan of this session";
  batch_.seq_lens = {};
  server_->Plan(2, plan_);
  ASSERT_THAT(stream.Plan(batch_), IsOk());
  const auto requests = server_->AwaitRequests(2);
  EXPECT_EQ(requests[0].session_id(), "secret");
  EXPECT_EQ(requests[0].tag(), 1u);
  EXPECT_EQ(requests[0].completion(), v1::COMPLETION_WAIT);
  EXPECT_EQ(requests[0].consumption_promised(), 9u);
  EXPECT_THAT(requests[0].batch().seq_lens(), ElementsAre(3, 4));
  EXPECT_EQ(requests[1].session_id(), "");
  EXPECT_EQ(requests[1].tag(), 2u);
  EXPECT_EQ(requests[1].completion(), v1::COMPLETION_ENQUEUED);
  EXPECT_EQ(requests[1].consumption_promised(), 0u);
  EXPECT_EQ(requests[1].batch().seq_lens_size(), 0) << "nothing is left of the first batch";
}

TEST_F(StreamTest, ARefusedBatchLeavesTheStreamAlive) {
  PlanStream stream = Open();
  server_->Refuse(1, 3, "seq_lens[0]: must be at least 1 (got 0)");
  server_->Plan(2, plan_);
  ASSERT_THAT(stream.Submit(batch_), IsOk());
  ASSERT_THAT(stream.Submit(batch_), IsOk());
  EXPECT_THAT(stream.Next(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seq_lens[0]")));
  EXPECT_EQ(stream.in_flight(), 1);
  EXPECT_THAT(stream.Next(), IsOk());
  EXPECT_THAT(stream.broken(), IsOk());
  EXPECT_THAT(stream.Next(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(StreamTest, ADeadlineThatTheServerReportsIsAnAnswer) {
  PlanStream stream = Open();
  server_->Refuse(1, 4, "plan 1: its bytes were not there");
  EXPECT_THAT(stream.Plan(batch_), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(stream.broken(), IsOk());
  server_->Plan(2, plan_);
  EXPECT_THAT(stream.Plan(batch_), IsOk());
}

TEST_F(StreamTest, AForgottenSessionIsExplained) {
  PlanStream stream = Open();
  boot_id_ = "ffffffffffffffffffffffffffffffff";
  server_->Refuse(1, 5, "no such session");
  EXPECT_THAT(stream.Plan(batch_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("server restarted")));
  server_->Answer(absl::NotFoundError("no such session"));
  EXPECT_THAT(stream.Plan(batch_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("server restarted")));
  EXPECT_THAT(stream.broken(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("server restarted")));
}

TEST_F(StreamTest, AWrongTagEndsTheStream) {
  PlanStream stream = Open();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(stream.Submit(batch_), IsOk());
  server_->Plan(2, plan_);
  server_->Plan(2, plan_);
  const auto wrong = StatusIs(absl::StatusCode::kInternal, HasSubstr("tag 2 instead of 1"));
  EXPECT_THAT(stream.Next(), wrong);
  EXPECT_TRUE(server_->cancelled());
  EXPECT_EQ(stream.in_flight(), 0);
  EXPECT_THAT(stream.Next(), wrong) << "though that tag would be right now";
  EXPECT_THAT(stream.Submit(batch_), wrong);
  EXPECT_THAT(stream.broken(), wrong);
}

TEST_F(StreamTest, TheFirstReasonOfABrokenStreamCounts) {
  PlanStream stream = Open();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(stream.Submit(batch_), IsOk());
  server_->Plan(1, plan_);
  server_->Answer(absl::UnavailableError("Socket closed"));
  EXPECT_THAT(stream.Next(), IsOk());
  const auto closed = StatusIs(absl::StatusCode::kUnavailable, "Socket closed");
  EXPECT_THAT(stream.Next(), closed);
  EXPECT_EQ(stream.in_flight(), 0);
  EXPECT_THAT(stream.Next(), closed);
  EXPECT_THAT(stream.Submit(batch_), closed);
  EXPECT_THAT(stream.Plan(batch_), closed);
  stream.Cancel();
  EXPECT_THAT(stream.broken(), closed);
  EXPECT_EQ(server_->num_ended(), 1);
  EXPECT_EQ(server_->num_requests(), 3u);
}

TEST_F(StreamTest, AtMostSoManyAreInFlight) {
  EXPECT_THAT(session_->OpenStream({.max_in_flight = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_in_flight")));
  PlanStream stream = Open({.max_in_flight = 2});
  EXPECT_THAT(stream.Submit(batch_), IsOk());
  EXPECT_THAT(stream.Submit(batch_), IsOk());
  EXPECT_THAT(stream.Submit(batch_),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("2 plans are in flight")));
  EXPECT_EQ(server_->num_requests(), 2u);
  EXPECT_THAT(stream.Plan(batch_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("2 plans are in flight")));
  server_->Plan(1, plan_);
  EXPECT_THAT(stream.Next(), IsOk());
  EXPECT_THAT(stream.Submit(batch_), IsOk());
  EXPECT_EQ(stream.in_flight(), 2);
  EXPECT_THAT(stream.broken(), IsOk());
}

TEST_F(StreamTest, NextMayBeAskedAgain) {
  PlanStream stream = Open();
  ASSERT_THAT(stream.Submit(batch_), IsOk());
  EXPECT_THAT(stream.Next(1ms), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(stream.Next(0ms), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(stream.in_flight(), 1);
  EXPECT_FALSE(server_->cancelled());
  server_->Plan(1, plan_);
  EXPECT_THAT(stream.Next(0ms), IsOk());
}

TEST_F(StreamTest, ALatePlanEndsTheStream) {
  PlanStream stream = Open();
  EXPECT_THAT(stream.Plan(batch_, {.deadline = 1ms}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("open another one")));
  EXPECT_TRUE(server_->cancelled());
  EXPECT_EQ(stream.in_flight(), 0);
  EXPECT_THAT(stream.broken(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  server_->Plan(1, plan_);
  EXPECT_THAT(stream.Plan(batch_), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(server_->num_requests(), 1u);
}

TEST_F(StreamTest, ARequestThatCannotBeSentLeavesTheOthersTheirAnswers) {
  PlanStream stream = Open();
  ASSERT_THAT(stream.Submit(batch_), IsOk());
  server_->SetWriteStatus(absl::DeadlineExceededError("the server reads no further request yet"));
  const auto late = StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("reads no further"));
  EXPECT_THAT(stream.Submit(batch_), late);
  EXPECT_THAT(stream.broken(), late);
  EXPECT_EQ(stream.in_flight(), 1);
  server_->Plan(1, plan_);
  EXPECT_THAT(stream.Next(), IsOk());
  EXPECT_THAT(stream.Next(), late);
}

TEST_F(StreamTest, DeadlinesAreThoseAskedFor) {
  PlanStream stream = Open();
  const auto now = std::chrono::steady_clock::now();
  server_->Plan(1, plan_);
  ASSERT_THAT(stream.Plan(batch_, {.deadline = 60min}), IsOk());
  EXPECT_GE(server_->write_deadline(), now + 60min);
  EXPECT_GE(server_->read_deadline(), now + 60min);
  server_->Plan(2, plan_);
  ASSERT_THAT(stream.Submit(batch_), IsOk());
  EXPECT_LT(server_->write_deadline(), now + 60min) << "ClientOptions::call_deadline";
  ASSERT_THAT(stream.Next(std::chrono::milliseconds::max()), IsOk());
  EXPECT_GE(server_->read_deadline(), now + 24h) << "does not overflow";
}

TEST_F(StreamTest, WhatTheServerMakesOfItIsChecked) {
  PlanStream stream = Open();
  uint64_t tag = 0;
  const auto is_internal = [&](const char* text) {
    const auto plan = stream.Plan(batch_);
    EXPECT_THAT(plan, StatusIs(absl::StatusCode::kInternal, HasSubstr(text)));
    EXPECT_THAT(stream.broken(), IsOk());
  };
  v1::Plan outside = plan_;
  outside.mutable_tensors(0)->set_offset(uint64_t{1} << 62);
  server_->Plan(++tag, outside);
  is_internal("does not fit its session");
  v1::Plan unknown = plan_;
  unknown.set_staging(static_cast<v1::Staging>(77));
  server_->Plan(++tag, unknown);
  is_internal("staging");
  v1::PlanStreamResponse neither;
  neither.set_tag(++tag);
  server_->Answer(neither);
  is_internal("plan_id");
  for (const int code : {0, -1, 17}) {
    server_->Refuse(++tag, code, "why");
    is_internal("why");
  }
  server_->Plan(++tag, plan_);
  EXPECT_THAT(stream.Plan(batch_), IsOk());
}

TEST_F(StreamTest, CancelEndsAWaitAndTheStream) {
  PlanStream stream = Open();
  ASSERT_THAT(stream.Submit(batch_), IsOk());
  absl::Status waited;
  std::thread taker([&] { waited = stream.Next(60min).status(); });
  stream.Cancel();
  taker.join();
  EXPECT_THAT(waited, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(stream.broken(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(stream.Plan(batch_), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(server_->num_requests(), 1u);
}

TEST_F(StreamTest, OutlivesTheSessionButPlansNoMore) {
  PlanStream stream = Open();
  server_->Plan(1, plan_);
  const auto plan = stream.Plan(batch_);
  ASSERT_THAT(plan, IsOk());
  session_.reset();
  EXPECT_THAT(plan->Tensor<int32_t>("spec_query_start_loc"), IsOk());
  EXPECT_THAT(stream.Plan(batch_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(StreamTest, MovesAndAssigns) {
  PlanStream first = Open({.poll = true});
  PlanStream second = std::move(first);
  second = Open();
  server_->Plan(1, plan_);
  EXPECT_THAT(second.Plan(batch_), IsOk());
}

class FollowerTest : public StreamTestBase {
 protected:
  // A follower that is told of last_plan_id 4 and then what `next` says.
  absl::StatusOr<PlanFollower> Follow(std::vector<absl::StatusOr<v1::WatchPlansResponse>> next) {
    auto watch = std::make_unique<MockWatch>();
    v1::WatchPlansResponse hello;
    hello.set_last_plan_id(4);
    next.insert(next.begin(), hello);
    ::testing::Sequence sequence;
    for (const auto& message : next) {
      EXPECT_CALL(*watch, Read)
          .InSequence(sequence)
          .WillOnce([message](v1::WatchPlansResponse& response, auto) {
            if (message.ok()) response = *message;
            return message.status();
          });
    }
    EXPECT_CALL(*stub_, WatchPlans).WillOnce([&](const v1::WatchPlansRequest& request, bool) {
      EXPECT_EQ(request.session_id(), "secret");
      return std::move(watch);
    });
    return session_->Follow();
  }
};

TEST_F(FollowerTest, GetsPlansAndWhatItMissed) {
  v1::WatchPlansResponse first;
  *first.mutable_plan() = plan_;
  v1::WatchPlansResponse later = first;
  later.mutable_plan()->set_plan_id(9);
  later.set_num_missed(3);
  auto follower = Follow({first, absl::DeadlineExceededError("the server did not answer in time"),
                          later, first, absl::NotFoundError("no such session")});
  ASSERT_THAT(follower, IsOk());
  EXPECT_EQ(follower->last_plan_before(), 4u);
  const auto plan = follower->Next(1ms);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->Tensor<int32_t>("spec_state_indices", 1)->span(), ElementsAre(24, 25, 26, 27));
  EXPECT_EQ(follower->num_missed(), 0u);
  EXPECT_THAT(follower->Next(1ms),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("no plan")));
  EXPECT_EQ(follower->Next(1ms)->id(), 9u);
  EXPECT_EQ(follower->num_missed(), 3u);
  PlanFollower moved = *std::move(follower);
  EXPECT_THAT(moved.Next(1ms), IsOk());
  EXPECT_EQ(moved.num_missed(), 0u) << "right before this one";
  EXPECT_THAT(moved.Next(1ms),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("the session was closed")));
}

TEST_F(FollowerTest, ImpossiblePlansAreInternal) {
  v1::WatchPlansResponse outside;
  *outside.mutable_plan() = plan_;
  outside.mutable_plan()->set_slot(2);
  auto follower = Follow({outside, v1::WatchPlansResponse()});
  ASSERT_THAT(follower, IsOk());
  EXPECT_THAT(follower->Next(1ms), StatusIs(absl::StatusCode::kInternal, HasSubstr("slot")));
  EXPECT_THAT(follower->Next(1ms), StatusIs(absl::StatusCode::kInternal, HasSubstr("plan_id")));
}

TEST_F(FollowerTest, FollowingFailsWhereTheServerRefuses) {
  EXPECT_CALL(*stub_, WatchPlans).WillOnce([&](const v1::WatchPlansRequest&, bool poll) {
    EXPECT_TRUE(poll);
    auto watch = std::make_unique<MockWatch>();
    EXPECT_CALL(*watch, Read(_, _))
        .WillOnce(::testing::Return(absl::ResourceExhaustedError("followers: 64")));
    return watch;
  });
  EXPECT_THAT(session_->Follow({.poll = true}),
              StatusIs(absl::StatusCode::kResourceExhausted, "followers: 64"));
}

}  // namespace
}  // namespace gdnplan::client
