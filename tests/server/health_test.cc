// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The standard health service, asked and watched.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "server/rpc/health_service.h"
#include "tests/server/health_testing.h"
#include "tests/server/plan_stream_testing.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"

namespace gdnplan::test {
namespace {

using ::testing::HasSubstr;

class HealthTest : public StreamServerTest {
 protected:
  void SetUp() override { Start({device_}); }

  // The next plan loses the device's context, as far as the server can see.
  void LoseContext() {
    device_->fail_writes = device_->sticky = true;
    EXPECT_FALSE(client_->Plan(session_.session_id(), SampleBatch()).ok());
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>("fake");
  v1::SessionDescription session_;
};

INSTANTIATE_TEST_SUITE_P(All, HealthTest, ::testing::ValuesIn(kStreamSetups), SetupName);

TEST_P(HealthTest, SaysThatTheServerAndItsServiceServe) {
  for (const char* service : {"", "gdnplan.v1.Planner"}) {
    const auto status = CheckHealth(channel_, service);
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(*status, HealthStatus::SERVING);
  }
  EXPECT_THAT(CheckHealth(channel_, "other"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("service")));
}

TEST_P(HealthTest, WatchersSeeTheStatusAtOnceAndItsChange) {
  session_ = Open();
  HealthWatcher server(channel_, "");
  HealthWatcher planner(channel_, "gdnplan.v1.Planner");
  HealthWatcher other(channel_, "other");
  EXPECT_EQ(server.Read(), HealthStatus::SERVING);
  EXPECT_EQ(planner.Read(), HealthStatus::SERVING);
  EXPECT_EQ(other.Read(), HealthStatus::SERVICE_UNKNOWN);
  LoseContext();
  EXPECT_EQ(server.Read(), HealthStatus::NOT_SERVING);
  EXPECT_EQ(planner.Read(), HealthStatus::NOT_SERVING);
  for (const char* service : {"", "gdnplan.v1.Planner"}) {
    const auto status = CheckHealth(channel_, service);
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(*status, HealthStatus::NOT_SERVING);
  }
}

TEST_P(HealthTest, ShutdownEndsWatches) {
  HealthWatcher server(channel_, "");
  HealthWatcher other(channel_, "other");
  EXPECT_EQ(server.Read(), HealthStatus::SERVING);
  EXPECT_EQ(other.Read(), HealthStatus::SERVICE_UNKNOWN);
  std::thread shutdown([&] { server_->Shutdown(kLongGrace); });
  // The change may be told still.
  while (const auto status = server.Read()) EXPECT_EQ(*status, HealthStatus::NOT_SERVING);
  EXPECT_THAT(server.Finish(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(other.Read(), std::nullopt);
  EXPECT_THAT(other.Finish(), StatusIs(absl::StatusCode::kUnavailable));
  shutdown.join();
}

TEST_P(HealthTest, WatchesAreLimitedAndEndWithTheirClients) {
  std::vector<std::unique_ptr<HealthWatcher>> watchers;
  for (size_t i = 0; i < server::HealthService::kMaxWatches; ++i) {
    watchers.push_back(std::make_unique<HealthWatcher>(channel_, ""));
    ASSERT_EQ(watchers.back()->Read(), HealthStatus::SERVING);
  }
  HealthWatcher refused(channel_, "");
  EXPECT_EQ(refused.Read(), std::nullopt);
  EXPECT_THAT(refused.Finish(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("watches")));
  watchers.pop_back();
  EXPECT_TRUE(
      Eventually([&] { return HealthWatcher(channel_, "").Read() == HealthStatus::SERVING; }));
}

TEST_P(HealthTest, WatchesMayBeCancelledAtAnyMoment) {
  for (int i = 0; i < 200; ++i) {
    HealthWatcher watcher(channel_, "");
    if (i % 2 == 0) watcher.Read();
  }
  server_->Shutdown(kLongGrace);
}

}  // namespace
}  // namespace gdnplan::test
