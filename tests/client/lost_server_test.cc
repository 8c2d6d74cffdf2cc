// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Streams whose server ends, stops, or belongs to a forked process' parent.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gdnplan/client/async_plan_stream.h"
#include "gdnplan/client/client.h"
#include "tests/client/child_process.h"
#include "tests/client/live_batch.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::client {
namespace {

using test::IsOk;
using test::LiveServer;
using test::StatusIs;
using ::testing::AnyOf;
using std::chrono_literals::operator""ms;

constexpr auto kForever = std::chrono::milliseconds::max();

class LostServerTest : public ::testing::Test {
 protected:
  // A stream with a plan in flight that waits for its slot, and a follower that heard of the one
  // before.
  void SetUp() override {
    session_ = client_
                   .OpenSession(LiveConfig(), {.slot_reuse = SlotReuse::kConsumed,
                                               .slot_wait = std::chrono::hours(1)})
                   .value();
    stream_ = session_->OpenStream().value();
    follower_ = session_->Follow().value();
    ASSERT_THAT(stream_->Plan(batch_.view()), IsOk());
    ASSERT_THAT(follower_->Next(kForever), IsOk());
    ASSERT_THAT(stream_->Submit(batch_.view()), IsOk());
  }

  LiveServer server_;
  const Client client_ =
      Client::Connect(server_.unix_address(), {.call_deadline = 10'000ms}).value();
  const Batch batch_;
  std::optional<Session> session_;
  std::optional<PlanStream> stream_;
  std::optional<PlanFollower> follower_;
};

class EndedServerTest : public LostServerTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, EndedServerTest, ::testing::Values(SIGKILL, SIGTERM),
                         [](const auto& value) {
                           return value.param == SIGKILL ? "Kill" : "Term";
                         });

TEST_P(EndedServerTest, BothHearOfIt) {
  absl::Status of_stream;
  absl::Status of_follower;
  std::thread taker([&] { of_stream = stream_->Next(kForever).status(); });
  std::thread worker([&] { of_follower = follower_->Next(kForever).status(); });
  std::this_thread::sleep_for(20ms);
  server_.process().Signal(GetParam());
  taker.join();
  worker.join();
  // What a server that shuts down tells of a session is NotFound or Unavailable.
  const auto gone =
      AnyOf(StatusIs(absl::StatusCode::kUnavailable), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(of_stream, gone);
  EXPECT_THAT(of_follower, gone);
  EXPECT_THAT(server_.process().Wait(), GetParam() == SIGKILL ? 128 + SIGKILL : 0);
  EXPECT_THAT(stream_->Plan(batch_.view()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(stream_->broken(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(follower_->Next(1ms), gone);
  // Says why, once gRPC has put the connection that it lost away.
  absl::Status reason;
  EXPECT_TRUE(test::Eventually([&] {
    auto next = session_->OpenStream();
    reason = next.ok() ? next->Plan(batch_.view()).status() : next.status();
    return !absl::IsUnavailable(reason) ||
           reason.message().find("connect") != absl::string_view::npos;
  })) << reason;
  EXPECT_THAT(reason, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(session_->Follow(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_P(EndedServerTest, NobodyHasToAsk) {
  server_.process().Signal(GetParam());
  server_.process().Wait();
  // Destructors do not hang.
}

TEST_F(LostServerTest, AStoppedServerHoldsNobodyUp) {
  const auto session = client_.OpenSession(LiveConfig());
  ASSERT_THAT(session, IsOk());
  AsyncPlanStream async(session->OpenStream().value());
  ASSERT_THAT(async.Plan(batch_.view()).get(), IsOk());
  server_.process().Signal(SIGSTOP);
  EXPECT_THAT(stream_->Next(20ms), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(follower_->Next(20ms), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(async.Plan(batch_.view(), {.deadline = 20ms}).get(),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  // Destructors do not hang.
}

TEST_F(LostServerTest, NorWhenItsSocketIsFull) {
  auto stream = session_->OpenStream({.max_in_flight = 1 << 20});
  ASSERT_THAT(stream, IsOk());
  const std::vector<int32_t> many(1 << 18, 1 << 20);
  plan::BatchView large;
  large.seq_lens = many;
  // So that gRPC's window grows beyond the socket's buffer.
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(stream->Plan(large), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  server_.process().Signal(SIGSTOP);
  absl::Status submitted;
  while (submitted.ok()) submitted = stream->Submit(large, {.deadline = 50ms});
  EXPECT_THAT(submitted, StatusIs(absl::StatusCode::kDeadlineExceeded));
  std::thread taker([&] { stream->Next(kForever).status().IgnoreError(); });
  std::this_thread::sleep_for(20ms);
  stream->Cancel();
  taker.join();
  auto another = session_->OpenStream();
  ASSERT_THAT(another, IsOk());
  EXPECT_THAT(another->Plan(large, {.deadline = 20ms}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  for (auto* each : {&stream, &another}) *each = absl::CancelledError();
  stream_.reset();
  follower_.reset();
  // Not so gRPC's calls that are no streams: the session's end.
  server_.process().Signal(SIGCONT);
}

TEST_F(LostServerTest, AForkedChildLeavesThemAlone) {
  AsyncPlanStream async(session_->OpenStream().value());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int wrong = 0;
    const auto refused = [&wrong](const absl::Status& status) {
      if (!absl::IsFailedPrecondition(status)) ++wrong;
    };
    refused(stream_->Submit(batch_.view()));
    refused(stream_->Next(kForever).status());
    refused(follower_->Next(kForever).status());
    refused(session_->OpenStream().status());
    refused(session_->Follow().status());
    refused(async.Plan(batch_.view()).get().status());
    stream_->Cancel();
    follower_->Cancel();
    async.Cancel();
    stream_.reset();
    follower_.reset();
    { const AsyncPlanStream gone = std::move(async); }
    session_.reset();
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(stream_->in_flight(), 1);
  EXPECT_THAT(stream_->Next(1ms), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(stream_->broken(), IsOk());
  async.Cancel();
  EXPECT_THAT(async.Plan(batch_.view()).get(), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace gdnplan::client
