// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// AsyncPlanStream over a faked server.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gdnplan/client/async_plan_stream.h"
#include "tests/client/stream_testing.h"
#include "tests/testing/no_threads.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;

class AsyncStreamTest : public StreamTestBase {
 protected:
  v1::Plan PlanWithId(uint64_t id) const {
    v1::Plan plan = plan_;
    plan.set_plan_id(id);
    return plan;
  }
};

TEST_F(AsyncStreamTest, AnswersInOrderWhateverTheyAre) {
  AsyncPlanStream stream(Open());
  auto first = stream.Plan(batch_);
  auto second = stream.Plan(batch_);
  auto third = stream.Plan(batch_);
  server_->Plan(1, PlanWithId(11));
  server_->Refuse(2, 4, "plan 12: its bytes were not there");
  server_->Plan(3, PlanWithId(13));
  EXPECT_EQ(first.get()->id(), 11u);
  EXPECT_THAT(second.get(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(third.get()->id(), 13u) << "a deadline that the server reports is an answer";
}

TEST_F(AsyncStreamTest, WithoutAThreadEachPlanSaysSo) {
  PlanStream plans = Open();
  std::optional<AsyncPlanStream> stream;
  {
    const test::NoThreads no_threads;
    stream.emplace(std::move(plans));
  }
  for (int i = 0; i < 2; ++i) {
    auto plan = stream->Plan(batch_);
    EXPECT_THAT(plan.get(), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("no thread")));
  }
  stream->Cancel();
}

TEST_F(AsyncStreamTest, WaitsForRoom) {
  AsyncPlanStream stream(Open({.max_in_flight = 2}));
  auto first = stream.Plan(batch_);
  auto second = stream.Plan(batch_);
  std::future<absl::StatusOr<PlanView>> third;
  std::atomic<bool> returned = false;
  std::thread planner([&] {
    third = stream.Plan(batch_);
    returned = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(returned);
  EXPECT_EQ(server_->num_requests(), 2u);
  server_->Plan(1, plan_);
  planner.join();
  server_->Plan(2, plan_);
  server_->Plan(3, plan_);
  EXPECT_THAT(first.get(), IsOk());
  EXPECT_THAT(second.get(), IsOk());
  EXPECT_THAT(third.get(), IsOk());
}

TEST_F(AsyncStreamTest, AStreamThatEndsForItsSizeIsNoFullStream) {
  AsyncPlanStream stream(Open());
  server_->Answer(absl::ResourceExhaustedError("message larger than max"));
  const auto too_large = StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("larger"));
  EXPECT_THAT(stream.Plan(batch_).get(), too_large);
  EXPECT_THAT(stream.Plan(batch_).get(), too_large) << "it does not wait for room";
}

TEST_F(AsyncStreamTest, EveryCallbackHearsOfTheEnd) {
  std::atomic<int> right = 0;
  {
    AsyncPlanStream stream(Open());
    for (int i = 0; i < 3; ++i) {
      stream.Plan(batch_, {}, [&](const absl::StatusOr<PlanView>& plan) {
        if (absl::IsUnavailable(plan.status())) ++right;
      });
    }
    server_->Answer(absl::UnavailableError("Socket closed"));
  }
  EXPECT_EQ(right, 3);
}

TEST_F(AsyncStreamTest, ALatePlanEndsTheStream) {
  AsyncPlanStream stream(Open());
  auto first = stream.Plan(batch_, {.deadline = 1ms});
  auto second = stream.Plan(batch_);
  EXPECT_THAT(first.get(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(second.get(), StatusIs(absl::StatusCode::kDeadlineExceeded)) << "at once";
  EXPECT_TRUE(server_->cancelled());
}

TEST_F(AsyncStreamTest, CancelAnswersAll) {
  AsyncPlanStream stream(Open({.max_in_flight = 1}));
  auto first = stream.Plan(batch_);
  std::future<absl::StatusOr<PlanView>> second;
  std::thread planner([&] { second = stream.Plan(batch_); });
  stream.Cancel();
  planner.join();
  EXPECT_THAT(first.get(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(second.get(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(AsyncStreamTest, ACallbackMayPlanAndNeverWaits) {
  AsyncPlanStream stream(Open({.max_in_flight = 1}));
  std::promise<absl::Status> second;
  std::promise<absl::Status> third;
  stream.Plan(batch_, {}, [&](const absl::StatusOr<PlanView>&) {
    stream.Plan(batch_, {}, [&](const auto& plan) { second.set_value(plan.status()); });
    stream.Plan(batch_, {}, [&](const auto& plan) { third.set_value(plan.status()); });
  });
  server_->Plan(1, plan_);
  server_->Plan(2, plan_);
  EXPECT_THAT(second.get_future().get(), IsOk());
  EXPECT_THAT(third.get_future().get(), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(AsyncStreamTest, ACallbackMayPlanWhileAnotherThreadWaitsForRoom) {
  AsyncPlanStream stream(Open({.max_in_flight = 1}));
  std::future<absl::StatusOr<PlanView>> inner;
  stream.Plan(batch_, {}, [&](const absl::StatusOr<PlanView>&) { inner = stream.Plan(batch_); });
  std::future<absl::StatusOr<PlanView>> outer;
  std::thread planner([&] { outer = stream.Plan(batch_); });
  for (uint64_t tag = 1; tag <= 3; ++tag) server_->Plan(tag, plan_);
  planner.join();
  EXPECT_THAT(outer.get().status(), IsOk());
}

TEST_F(AsyncStreamTest, TheDestructorAnswersWhatCallbacksStillAskFor) {
  std::optional<absl::Status> last;
  {
    AsyncPlanStream stream(Open());
    stream.Plan(batch_, {}, [&](const absl::StatusOr<PlanView>&) {
      // As from an engine that plans the next step from each answer.
      while (!server_->cancelled()) std::this_thread::yield();
      stream.Plan(batch_, {}, [&](const auto& plan) { last = plan.status(); });
    });
    stream.Cancel();
  }
  ASSERT_TRUE(last.has_value());
  EXPECT_THAT(*last, StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(AsyncStreamTest, AnswersOfBeforeGoToNobody) {
  PlanStream before = Open();
  ASSERT_THAT(before.Submit(batch_), IsOk());
  server_->Plan(1, plan_);
  AsyncPlanStream stream(std::move(before));
  EXPECT_THAT(stream.Plan(batch_).get(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in flight")));
}

TEST_F(AsyncStreamTest, MovesAndAssigns) {
  AsyncPlanStream first(Open());
  auto future = first.Plan(batch_);
  AsyncPlanStream second = std::move(first);
  server_->Plan(1, plan_);
  EXPECT_THAT(future.get(), IsOk());
  server_ = std::make_shared<FakeServer>();
  second = AsyncPlanStream(Open());
  auto other = second.Plan(batch_);
  server_->Plan(1, plan_);
  EXPECT_THAT(other.get(), IsOk());
}

}  // namespace
}  // namespace gdnplan::client
