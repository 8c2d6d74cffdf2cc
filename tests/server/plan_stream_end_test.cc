// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How plan streams end: by the client, the session, the server.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/server/plan_stream_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"

namespace gdnplan::test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr uint32_t kLongWaitMs = 60'000;

class PlanStreamEndTest : public StreamServerTest {
 protected:
  void SetUp() override { Start({device_}); }

  // A stream whose next `num_waiting` plans wait for the slot, tagged from 1.
  std::unique_ptr<StreamClient> BusyStream(const std::string& session, uint64_t num_waiting) {
    auto stream = std::make_unique<StreamClient>(stub(), session);
    EXPECT_TRUE(stream->Send(0, batch_));
    EXPECT_THAT(stream->Read(0), IsOk());
    for (uint64_t tag = 1; tag <= num_waiting; ++tag) {
      v1::PlanStreamRequest request = stream->Request(tag, batch_);
      request.set_consumption_promised(tag);
      EXPECT_TRUE(stream->Send(request));
    }
    EXPECT_TRUE(Eventually([&] { return device_->promised == num_waiting; }));
    return stream;
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>("fake");
  const json::OwnedBatch batch_ = SampleBatch();
};

INSTANTIATE_TEST_SUITE_P(All, PlanStreamEndTest, ::testing::ValuesIn(kStreamSetups), SetupName);

TEST_P(PlanStreamEndTest, AnUnknownSessionIsAnsweredAndEndsTheStream) {
  StreamClient stream(stub(), "nobody");
  ASSERT_TRUE(stream.Send(5, batch_));
  EXPECT_THAT(stream.Read(5), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_THAT(stream.Finish(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
}

TEST_P(PlanStreamEndTest, AStreamWithoutRequestsEndsWithOk) {
  StreamClient stream(stub(), "");
  ASSERT_TRUE(stream.CloseRequests());
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_THAT(stream.Finish(), IsOk());
}

TEST_P(PlanStreamEndTest, AHalfClosedStreamEndsWithOkAfterAllAnswers) {
  const auto stream = BusyStream(Open(1, kLongWaitMs).session_id(), 5);
  ASSERT_TRUE(stream->CloseRequests());
  for (uint64_t tag = 1; tag <= 5; ++tag) {
    device_->consumed = tag;
    EXPECT_THAT(stream->Read(tag), IsOk());
  }
  EXPECT_FALSE(stream->Read().has_value());
  EXPECT_THAT(stream->Finish(), IsOk());
}

TEST_P(PlanStreamEndTest, ACancelledStreamFreesItsWaitingCalls) {
  const std::string id = Open(1, kLongWaitMs).session_id();
  const auto session = server_->registry().Find(id);
  ASSERT_THAT(session, IsOk());
  const auto stream = BusyStream(id, 10);
  stream->Cancel();
  EXPECT_THAT(stream->Finish(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(Eventually([&] { return (*session)->statistics().num_refused == 10; }));
  // The slot is the next stream's.
  device_->consumed = 1;
  StreamClient next(stub(), id);
  ASSERT_TRUE(next.Send(1, batch_));
  const auto plan = next.Read(1);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->plan_id(), 2u);
  EXPECT_THAT(client_->Close(id), IsOk());
  EXPECT_EQ(device_->live_arenas, 0);
  server_->Shutdown(kLongGrace);
}

TEST_P(PlanStreamEndTest, ACancelledStreamFreesCallsThatWaitForTheDevice) {
  device_->complete = false;
  const std::string id = Open(4).session_id();
  auto stream = std::make_unique<StreamClient>(stub(), id);
  for (uint64_t tag = 1; tag <= 3; ++tag) {
    v1::PlanStreamRequest request = stream->Request(tag, batch_);
    request.set_completion(v1::COMPLETION_WAIT);
    ASSERT_TRUE(stream->Send(request));
  }
  EXPECT_TRUE(Eventually([&] {
    const auto writes = device_->writes();
    return !writes.empty() && writes.back().timeline_value == 3;
  }));
  stream->Cancel();
  EXPECT_THAT(client_->Close(id), IsOk());
  // The memory goes once no call waits for the device.
  EXPECT_TRUE(Eventually([&] { return device_->live_arenas == 0; }));
  stream.reset();
  server_->Shutdown(kLongGrace);
}

TEST_P(PlanStreamEndTest, AClosedSessionRefusesAndTheStreamLivesOn) {
  const std::string id = Open(1, kLongWaitMs).session_id();
  const auto stream = BusyStream(id, 3);
  ASSERT_THAT(client_->Close(id), IsOk());
  for (uint64_t tag = 1; tag <= 3; ++tag) {
    EXPECT_THAT(stream->Read(tag), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
  }
  ASSERT_TRUE(stream->Send(4, batch_));
  EXPECT_THAT(stream->Read(4), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session_id")));
  ASSERT_TRUE(stream->CloseRequests());
  EXPECT_FALSE(stream->Read().has_value());
  EXPECT_THAT(stream->Finish(), IsOk());
}

TEST_P(PlanStreamEndTest, ShutdownEndsIdleStreamsAtOnce) {
  StreamClient unused(stub(), "");
  StreamClient used(stub(), Open().session_id());
  ASSERT_TRUE(used.Send(1, batch_));
  ASSERT_THAT(used.Read(1), IsOk());
  // It would wait for as long as a stream lives.
  server_->Shutdown(kLongGrace);
  for (StreamClient* stream : {&unused, &used}) {
    EXPECT_FALSE(stream->Read().has_value());
    EXPECT_THAT(stream->Finish(), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_EQ(device_->live_arenas, 0);
}

TEST_P(PlanStreamEndTest, ShutdownLetsStreamsAnswerWhatTheyHaveRead) {
  if (!GetParam().socket) GTEST_SKIP() << "gRPC cuts connections within the process at once";
  const auto stream = BusyStream(Open(1, kLongWaitMs).session_id(), 3);
  std::thread shutdown([&] { server_->Shutdown(kLongGrace); });
  for (uint64_t tag = 1; tag <= 3; ++tag) {
    device_->consumed = tag;
    EXPECT_THAT(stream->Read(tag), IsOk());
  }
  EXPECT_FALSE(stream->Read().has_value());
  EXPECT_THAT(stream->Finish(), StatusIs(absl::StatusCode::kUnavailable));
  shutdown.join();
}

TEST_P(PlanStreamEndTest, ShutdownEndsBusyStreamsAfterItsGrace) {
  const std::string id = Open(1, kLongWaitMs).session_id();
  const auto stream = BusyStream(id, 10);
  const auto before = std::chrono::steady_clock::now();
  server_->Shutdown(milliseconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds(kLongWaitMs) / 2);
  EXPECT_EQ(device_->live_arenas, 0);
  while (stream->Read().has_value()) continue;
  EXPECT_THAT(stream->Finish(), StatusIs(absl::StatusCode::kUnavailable));
}

// Whatever the moment: before the server knows of the stream, while it starts, plans or writes.
TEST_P(PlanStreamEndTest, StreamsMayBeCancelledAtAnyMoment) {
  const std::string id = Open(4).session_id();
  // So that every thread of the server looks after streams already.
  std::vector<std::unique_ptr<StreamClient>> idle;
  for (int i = 0; i < 5; ++i) {
    idle.push_back(std::make_unique<StreamClient>(stub(), id));
    ASSERT_TRUE(idle.back()->Send(1, batch_));
    ASSERT_THAT(idle.back()->Read(1), IsOk());
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 150; ++i) {
        StreamClient stream(stub(), id);
        const int requests = (i + t) % 4;
        for (int j = 0; j < requests; ++j) stream.Send(1, batch_);
        if (requests > 0 && i % 3 == 0) stream.Read();
        if (i % 5 == 0) stream.CloseRequests();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& stream : idle) {
    ASSERT_TRUE(stream->Send(2, batch_));
    EXPECT_THAT(stream->Read(2), IsOk());
  }
  server_->Shutdown(kLongGrace);
}

TEST_P(PlanStreamEndTest, TheServerMayShutDownWhileStreamsStart) {
  if (!GetParam().socket) GTEST_SKIP() << "gRPC's channels within the process outlive no server";
  const std::string id = Open(4).session_id();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (true) {
        StreamClient stream(stub(), id);
        if (!stream.Send(1, batch_) || !stream.Read().has_value()) return;
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return device_->writes().size() > 100; }));
  server_->Shutdown(kLongGrace);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gdnplan::test
