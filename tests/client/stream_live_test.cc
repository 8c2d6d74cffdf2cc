// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Streams and followers against a real server.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gdnplan/client/async_plan_stream.h"
#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::LiveServer;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;

// With `poll`: whether threads that wait for answers do.
class StreamLiveTest : public ::testing::TestWithParam<bool> {
 protected:
  Session Open(const SessionOptions& options = {}) const {
    return client_.OpenSession(LiveConfig(), options).value();
  }
  StreamOptions options() const { return {.poll = GetParam()}; }

  const LiveServer server_;
  const Client client_ = Client::Connect(server_.unix_address()).value();
  const Batch batch_;
};

INSTANTIATE_TEST_SUITE_P(Poll, StreamLiveTest, ::testing::Bool(),
                         [](const auto& value) { return value.param ? "Polling" : "Sleeping"; });

// Everything of a plan but for its session's own numbers.
void ExpectEqual(const PlanView& a, const PlanView& b) {
  EXPECT_EQ(a.id(), b.id());
  EXPECT_EQ(a.slot(), b.slot());
  EXPECT_EQ(a.timeline_value(), b.timeline_value());
  EXPECT_EQ(a.counts().num_prefills, b.counts().num_prefills);
  EXPECT_EQ(a.counts().num_decodes, b.counts().num_decodes);
  EXPECT_EQ(a.Absent(), b.Absent());
  ASSERT_EQ(a.record().tensors.size(), b.record().tensors.size());
  for (const char* name : {"non_spec_query_start_loc", "non_spec_state_indices", "chunk_indices",
                           "chunk_offsets", "prefill_state_indices"}) {
    for (int32_t group = 0; group < 2; ++group) {
      const auto values = a.Copy<int32_t>(name, group);
      if (absl::IsNotFound(values.status())) continue;
      ASSERT_THAT(values, IsOk()) << name;
      EXPECT_THAT(b.Copy<int32_t>(name, group), test::IsOkAndHolds(*values)) << name;
    }
  }
}

TEST_P(StreamLiveTest, PlansAsUnaryCallsDo) {
  Session unary = Open({.num_slots = 2});
  Session streaming = Open({.num_slots = 2});
  auto stream = streaming.OpenStream(options());
  ASSERT_THAT(stream, IsOk());
  plan::BatchView bad = batch_.view();
  const std::array<int32_t, 2> seq_lens = {0, 150};
  bad.seq_lens = seq_lens;
  for (int i = 0; i < 5; ++i) {
    const Batch batch(i);
    const auto want = unary.Plan(batch.view(), {.wait_complete = true});
    const auto got = stream->Plan(batch.view(), {.wait_complete = true});
    ASSERT_THAT(want, IsOk());
    ASSERT_THAT(got, IsOk());
    ExpectEqual(*got, *want);
    const absl::Status refused = unary.Plan(bad).status();
    EXPECT_THAT(stream->Plan(bad), StatusIs(refused.code(), std::string(refused.message())));
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_P(StreamLiveTest, OneThreadSubmitsWhileAnotherTakes) {
  constexpr int kPlans = 300;
  // More slots than plans in flight: none is written again before it was read.
  const Session session = Open({.num_slots = 64});
  auto stream = session.OpenStream(options());
  ASSERT_THAT(stream, IsOk());
  int submitted = 0;
  std::thread submitter([&] {
    while (submitted < kPlans) {
      const absl::Status status = stream->Submit(Batch(submitted).view());
      if (absl::IsResourceExhausted(status)) {
        std::this_thread::yield();
        continue;
      }
      if (!status.ok()) break;
      ++submitted;
    }
  });
  int right = 0;
  while (right < kPlans) {
    const auto plan = stream->Next();
    if (absl::IsFailedPrecondition(plan.status())) {  // nothing was submitted yet
      std::this_thread::yield();
      continue;
    }
    if (!plan.ok()) {
      ADD_FAILURE() << plan.status();
      break;
    }
    const auto ready = session.WaitReady(*plan, 30'000ms);
    const auto states = plan->Tensor<int32_t>("non_spec_state_indices", 1);
    if (!ready.ok() || !states.ok() || states->at(0) != 10 * right ||
        plan->id() != static_cast<uint64_t>(right) + 1) {
      ADD_FAILURE() << "plan " << plan->id() << " instead of " << right + 1;
      break;
    }
    ++right;
  }
  if (right < kPlans) stream->Cancel();
  submitter.join();
  EXPECT_EQ(submitted, kPlans);
  EXPECT_EQ(right, kPlans);
  EXPECT_EQ(stream->in_flight(), 0);
}

TEST_P(StreamLiveTest, AFollowerGetsWhateverIsPlanned) {
  Session session = Open({.num_slots = 64});
  ASSERT_THAT(session.Plan(batch_.view()), IsOk());
  const auto worker_client = Client::Connect(server_.tcp_address());
  ASSERT_THAT(worker_client, IsOk());
  const auto worker = worker_client->AttachSession(session.id());
  ASSERT_THAT(worker, IsOk());
  auto follower = worker->Follow({.poll = GetParam()});
  ASSERT_THAT(follower, IsOk());
  EXPECT_EQ(follower->last_plan_before(), 1u);
  EXPECT_THAT(follower->Next(1ms),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("no plan")));
  auto stream = session.OpenStream(options());
  ASSERT_THAT(stream, IsOk());
  std::vector<PlanView> plans;
  for (int32_t i = 0; i < 5; ++i) {
    const Batch batch(100 + i);
    auto plan = i % 2 == 0 ? stream->Plan(batch.view()) : session.Plan(batch.view());
    ASSERT_THAT(plan, IsOk());
    plans.push_back(*std::move(plan));
  }
  const std::array<int32_t, 2> table = {3, 4};
  auto updated = session.UpdateBlockTable(plans.back(), 1, {table, 1});
  ASSERT_THAT(updated, IsOk());
  plans.push_back(*std::move(updated));
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto plan = follower->Next(30'000ms);
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(follower->num_missed(), 0u);
    EXPECT_EQ(plan->id(), plans[i].id());
    EXPECT_EQ(plan->timeline_value(), plans[i].timeline_value());
    ASSERT_THAT(worker->WaitReady(*plan, 30'000ms), IsOk());
    const auto states = plan->Tensor<int32_t>("non_spec_state_indices", 0);
    ASSERT_THAT(states, IsOk());
    const auto state = 100 + static_cast<int32_t>(std::min<size_t>(i, 4));
    EXPECT_THAT(states->span(), ElementsAre(state, state + 2));
    EXPECT_NE(states->data(), plans[i].Tensor<int32_t>("non_spec_state_indices", 0)->data())
        << "a mapping of its own";
    if (i == 5) {
      EXPECT_THAT(plan->Tensor<int32_t>("non_spec_state_indices", 1)->span(), ElementsAre(3, 4));
    }
  }
  ASSERT_THAT(session.Close(), IsOk());
  EXPECT_THAT(follower->Next(30'000ms), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(stream->Plan(batch_.view()), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(StreamLiveTest, CancelReachesWhoWaits) {
  const Session session = Open({.slot_reuse = SlotReuse::kConsumed, .slot_wait = 600'000ms});
  auto stream = session.OpenStream(options());
  ASSERT_THAT(stream, IsOk());
  auto follower = session.Follow({.poll = GetParam()});
  ASSERT_THAT(follower, IsOk());
  ASSERT_THAT(stream->Plan(batch_.view()), IsOk());
  ASSERT_THAT(follower->Next(30'000ms), IsOk());
  ASSERT_THAT(stream->Submit(batch_.view()), IsOk());
  absl::Status of_stream;
  absl::Status of_follower;
  std::thread taker([&] { of_stream = stream->Next(600'000ms).status(); });
  std::thread worker([&] { of_follower = follower->Next(600'000ms).status(); });
  std::this_thread::sleep_for(20ms);
  stream->Cancel();
  follower->Cancel();
  taker.join();
  worker.join();
  EXPECT_THAT(of_stream, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(of_follower, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(stream->Plan(batch_.view()), StatusIs(absl::StatusCode::kCancelled));
}

TEST_P(StreamLiveTest, AForgottenSessionIsNamed) {
  const Session session = Open();
  auto stream = session.OpenStream(options());
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Plan(batch_.view()), IsOk());
  const auto other = client_.AttachSession(session.id());
  ASSERT_THAT(other, IsOk());
  Session owner = Open();
  auto idle = owner.OpenStream(options());
  auto attached = client_.AttachSession(owner.id());
  ASSERT_THAT(attached, IsOk());
  auto late = attached->OpenStream(options());
  ASSERT_THAT(late, IsOk());
  ASSERT_THAT(owner.Close(), IsOk());
  EXPECT_THAT(late->Plan(batch_.view()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("the session was closed")));
  EXPECT_THAT(attached->Follow(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("the session was closed")));
  EXPECT_THAT(stream->Plan(batch_.view()), IsOk()) << "other sessions' streams live on";
}

TEST(AsyncLiveTest, OrderRoomAndDestruction) {
  const LiveServer server;
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  const auto session = client->OpenSession(LiveConfig(), {.num_slots = 64});
  ASSERT_THAT(session, IsOk());
  constexpr int kPlans = 200;
  std::vector<int32_t> states;
  std::vector<std::future<absl::StatusOr<PlanView>>> futures;
  {
    AsyncPlanStream stream(session->OpenStream({.max_in_flight = 3}).value());
    for (int i = 0; i < kPlans; ++i) {
      const Batch batch(i);
      stream.Plan(batch.view(), {.wait_complete = true}, [&](absl::StatusOr<PlanView> plan) {
        const auto values = plan.ok() ? plan->Copy<int32_t>("non_spec_state_indices")
                                      : absl::StatusOr<std::vector<int32_t>>(plan.status());
        states.push_back(values.ok() ? values->front() : -1);
      });
      futures.push_back(stream.Plan(batch.view()));
    }
  }  // answers what is in flight
  ASSERT_EQ(states.size(), size_t{kPlans});
  for (int i = 0; i < kPlans; ++i) {
    EXPECT_EQ(states[static_cast<size_t>(i)], i);
    const auto plan = futures[static_cast<size_t>(i)].get();
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(plan->id(), static_cast<uint64_t>(2 * i + 2));
  }
}

TEST(AsyncLiveTest, EachAnswerAsksForTheNextPlan) {
  const LiveServer server;
  const auto client = Client::Connect(server.unix_address());
  ASSERT_THAT(client, IsOk());
  const auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  AsyncPlanStream stream(session->OpenStream({.max_in_flight = 1}).value());
  const Batch batch;
  std::promise<absl::StatusOr<PlanView>> last;
  AsyncPlanStream::Callback again = [&](absl::StatusOr<PlanView> plan) {
    if (!plan.ok() || plan->id() == 50) return last.set_value(std::move(plan));
    stream.Plan(batch.view(), {}, again);
  };
  stream.Plan(batch.view(), {}, again);
  const auto plan = last.get_future().get();
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->id(), 50u);
}

TEST(AsyncLiveTest, ARequestThatIsTooLargeIsAnswered) {
  const test::TemporaryDirectory directory;
  const std::string address = "unix:" + directory.path() + "/small.sock";
  test::Process server({GDNPLAN_SERVER_PATH, "--device=host", "--listen=" + address,
                        "--max-message-bytes=65536", "--log-level=warn"});
  server.ReadLine();
  const auto client = Client::Connect(address, {.connect_timeout = 30'000ms});
  ASSERT_THAT(client, IsOk());
  auto session = client->OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  AsyncPlanStream stream(session->OpenStream({.max_in_flight = 1}).value());
  plan::BatchView large;
  const std::vector<int32_t> many(100'000);
  large.seq_lens = many;
  EXPECT_THAT(stream.Plan(large).get(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(stream.Plan(large).get(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(session->Plan(Batch().view()), IsOk());
}

}  // namespace
}  // namespace gdnplan::client
