// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_registry.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "server/host_device.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::HostDevice;
using server::SessionOptions;
using server::SessionRegistry;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SessionOptions Options() {
  SessionOptions options;
  options.config = SampleConfig();
  return options;
}

class SessionRegistryTest : public ::testing::Test {
 protected:
  static server::Session::Devices Devices(const std::shared_ptr<server::Boot>& boot) {
    return {std::make_shared<HostDevice>(boot),
            std::make_shared<HostDevice>(boot,
                                         HostDevice::Options{.index = 1, .limit_bytes = 4 << 20})};
  }

  std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
  SessionRegistry registry_{boot_, Devices(boot_), {.max_sessions = 4}};
};

TEST_F(SessionRegistryTest, OpensOnTheFirstDeviceUnlessAsked) {
  const auto session = registry_.Open(Options(), {});
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ((*session)->arenas().size(), 1u);
  EXPECT_EQ((*session)->arenas()[0].device.id, "host");
  const auto both = registry_.Open(Options(), {"host:1", "host"});
  ASSERT_THAT(both, IsOk());
  EXPECT_EQ((*both)->arenas()[0].device.id, "host:1");
  EXPECT_EQ((*both)->arenas()[1].device.id, "host");
  EXPECT_NE((*both)->arenas()[0].generation, (*both)->arenas()[1].generation);
}

TEST_F(SessionRegistryTest, RefusesUnknownAndRepeatedDevices) {
  EXPECT_THAT(registry_.Open(Options(), {"host", "gpu"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("devices[1]"), HasSubstr("host, host:1"))));
  EXPECT_THAT(registry_.Open(Options(), {"host", "host"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("devices[1]: named twice")));
}

TEST_F(SessionRegistryTest, IdsAreRandomAndNumbersRise) {
  std::set<std::string> ids;
  uint64_t last_number = 0;
  for (int i = 0; i < 8; ++i) {
    const auto session = registry_.Open(Options(), {});
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ((*session)->id().size(), 32u);
    EXPECT_EQ((*session)->id().find_first_not_of("0123456789abcdef"), std::string::npos);
    ids.insert((*session)->id());
    EXPECT_GT((*session)->number(), last_number);
    last_number = (*session)->number();
    ASSERT_THAT(registry_.Close((*session)->id()), IsOk());
  }
  EXPECT_EQ(ids.size(), 8u);
}

TEST_F(SessionRegistryTest, FindsUntilClosed) {
  const auto session = registry_.Open(Options(), {}).value();
  EXPECT_EQ(registry_.Find(session->id()).value(), session);
  EXPECT_EQ(registry_.size(), 1u);
  EXPECT_THAT(registry_.Close(session->id()), IsOk());
  EXPECT_EQ(registry_.size(), 0u);
  EXPECT_THAT(registry_.Find(session->id()),
              StatusIs(absl::StatusCode::kNotFound, Not(HasSubstr(session->id()))));
  EXPECT_THAT(registry_.Close(session->id()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(registry_.Find(""), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(registry_.Find("<not an id>"),
              StatusIs(absl::StatusCode::kNotFound, Not(HasSubstr("<not an id>"))));
  EXPECT_THAT(Plan(*session, SampleBatch()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SessionRegistryTest, LimitsTheSessions) {
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(registry_.Open(Options(), {}).value()->id());
  EXPECT_THAT(registry_.Open(Options(), {}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max-sessions is 4")));
  ASSERT_THAT(registry_.Close(ids[2]), IsOk());
  EXPECT_THAT(registry_.Open(Options(), {}), IsOk());
}

TEST_F(SessionRegistryTest, AFailedOpenUsesNothingUp) {
  SessionOptions large = Options();
  large.config.max_num_batched_tokens = 1 << 20;
  SessionOptions wrong = Options();
  wrong.config.chunk_size = 3;
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(registry_.Open(large, {"host", "host:1"}),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         AllOf(HasSubstr("device host:1"), HasSubstr("4194304 available"))));
    EXPECT_THAT(registry_.Open(wrong, {}), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_EQ(registry_.size(), 0u);
  EXPECT_THAT(registry_.Open(Options(), {"host:1"}), IsOk());
}

TEST_F(SessionRegistryTest, ListsInOrder) {
  std::vector<std::shared_ptr<server::Session>> opened;
  for (int i = 0; i < 4; ++i) opened.push_back(registry_.Open(Options(), {}).value());
  EXPECT_EQ(registry_.List(), opened);
}

TEST_F(SessionRegistryTest, CloseAllEndsEverything) {
  const auto session = registry_.Open(Options(), {}).value();
  const server::MemoryHandle handle = session->arenas()[0].handle;
  registry_.CloseAll();
  EXPECT_FALSE(Exists(handle));
  EXPECT_THAT(Plan(*session, SampleBatch()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(registry_.Open(Options(), {}), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(SessionRegistryTest, ThreadsOpenPlanListAndClose) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 10; ++i) {
        const auto session = registry_.Open(Options(), {});
        ASSERT_THAT(session, IsOk());
        EXPECT_EQ(Plan(**session, SampleBatch())->plan_id, 1u);
        EXPECT_FALSE(registry_.List().empty());
        EXPECT_THAT(registry_.Close((*session)->id()), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry_.size(), 0u);
}

}  // namespace
}  // namespace gdnplan::test
