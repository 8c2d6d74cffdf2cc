// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Every allocation of a request fails once, alone and with all that come after it: the request is
// refused or answered, nothing of it is left, and the next ones are answered.
#include "server/out_of_memory.h"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gdnplan/plan/status.h"
#include "server/host_device.h"
#include "server/session_registry.h"
#include "tests/server/session_testing.h"
#include "tests/testing/allocation_counter.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::HostDevice;
using server::Session;
using server::SessionRegistry;
using Which = FailingAllocations::Which;

constexpr uint64_t kDeviceBytes = 16 << 20;

class OutOfMemoryTest : public ::testing::Test {
 protected:
  static server::SessionOptions Options() {
    server::SessionOptions options;
    options.config = SampleConfig();
    return options;
  }
  std::shared_ptr<Session> Open(const server::SessionOptions& options = Options()) {
    return registry_.Open(options, {"host", "host:1"}).value();
  }
  uint64_t available() const { return registry_.devices()[1]->info().available_bytes; }

  // Calls `request` again and again, each time with another allocation failing, until none does;
  // `check` after each, with what it returned.
  static void ForEachAllocation(const std::function<absl::Status()>& request,
                                const std::function<void(const absl::Status&)>& check) {
    for (const Which which : {Which::kOne, Which::kAll}) {
      int64_t allowed = 0;
      for (bool failed = true; failed; ++allowed) {
        absl::Status status;
        {
          const FailingAllocations failing(allowed, which);
          status = request();
          failed = failing.failed() > 0;
        }
        SCOPED_TRACE(testing::Message() << "allocation " << allowed << ": " << status);
        check(status);
        ASSERT_LT(allowed, 10'000);
      }
    }
  }

  const std::shared_ptr<server::Boot> boot_ = server::Boot::Create().value();
  SessionRegistry registry_{
      boot_,
      {std::make_shared<HostDevice>(boot_),
       std::make_shared<HostDevice>(boot_,
                                    HostDevice::Options{.index = 1, .limit_bytes = kDeviceBytes})},
      {.max_device_bytes = kDeviceBytes}};
};

TEST_F(OutOfMemoryTest, Opening) {
  const uint64_t before = available();
  int refused = 0;
  const server::SessionOptions options = Options();
  const std::vector<std::string> devices = {"host", "host:1"};
  std::shared_ptr<Session> session;
  ForEachAllocation(
      [&] {
        // The copy is the caller's.
        absl::StatusOr<std::shared_ptr<Session>> opened =
            server::CatchOutOfMemory([&] { return registry_.Open(options, devices); });
        if (opened.ok()) session = *std::move(opened);
        return opened.status();
      },
      [&](const absl::Status& status) {
        if (status.ok()) {
          EXPECT_THAT(Plan(*session, SampleBatch()), IsOk());
          EXPECT_THAT(registry_.Close(session->id()), IsOk());
          session.reset();
        } else {
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
          ++refused;
        }
        EXPECT_EQ(registry_.size(), 0u);
        EXPECT_EQ(available(), before);
      });
  EXPECT_GT(refused, 20);
  // Not one byte of the limits was lost, nor of the number of sessions.
  std::vector<std::shared_ptr<Session>> sessions;
  const auto size = static_cast<uint64_t>(Open()->layout().arena_bytes);
  for (uint64_t i = 1; i < kDeviceBytes / size; ++i) sessions.push_back(Open());
  EXPECT_THAT(registry_.Open(Options(), {"host:1"}),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(OutOfMemoryTest, PlanningAndRefusing) {
  const auto session = Open();
  ClientArena arena(session->arenas()[0].handle, session->layout());
  json::OwnedBatch good = SampleBatch();
  json::OwnedBatch bad = SampleBatch();
  bad.seq_lens[0] = -1;
  for (const bool refused : {false, true}) {
    const plan::BatchView view = (refused ? bad : good).view();
    ForEachAllocation(
        [&] {
          TestCall call(view);
          session->Submit(call);
          return call.Wait().status();
        },
        [&](const absl::Status& status) {
          if (absl::IsResourceExhausted(status)) return;
          EXPECT_EQ(status.code(),
                    refused ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk);
        });
  }
  PlannedSlot expected(SampleConfig());
  ASSERT_THAT(expected.Plan(good.view()), IsOk());
  const auto result = Plan(*session, good);
  ASSERT_THAT(result, IsOk());
  ExpectHolds(*result, arena, expected);
}

TEST_F(OutOfMemoryTest, Waiting) {
  server::SessionOptions options = Options();
  options.guarded = true;
  options.slot_wait = std::chrono::milliseconds(1);
  const auto session = Open(options);
  ASSERT_THAT(Plan(*session, SampleBatch()), IsOk());
  const json::OwnedBatch batch = SampleBatch();
  const plan::BatchView view = batch.view();
  ForEachAllocation(
      [&] {
        TestCall call(view);
        session->Submit(call);
        return call.Wait().status();  // slot busy, by another thread
      },
      [&](const absl::Status& status) {
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
      });
}

TEST_F(OutOfMemoryTest, ClosingEndsASessionOrLeavesItWhole) {
  const uint64_t before = available();
  std::shared_ptr<Session> session = Open();
  ForEachAllocation(
      [&] { return server::CatchOutOfMemory([&] { return registry_.Close(session->id()); }); },
      [&](const absl::Status& status) {
        if (status.ok()) {
          EXPECT_EQ(available(), before);
          session = Open();
        } else {
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
          EXPECT_THAT(Plan(*session, SampleBatch()), IsOk());
        }
      });
}

}  // namespace
}  // namespace gdnplan::test
