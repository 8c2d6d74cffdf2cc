// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/watchdog.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "server/roll_call.h"
#include "server/session_poller.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::RollCall;
using server::Watchdog;
using std::chrono_literals::operator""ms;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RollCallTest, KnowsWhoIsMissing) {
  RollCall roll;
  const auto second = roll.Expect("second");
  const auto first = roll.Expect("first");
  EXPECT_THAT(roll.Missing(0ms), ElementsAre("first", "second"));
  first();
  EXPECT_THAT(roll.Missing(10ms), ElementsAre("second"));
  std::thread late([second] { second(); });
  EXPECT_THAT(roll.Missing(20'000ms), IsEmpty());
  late.join();
}

TEST(RollCallTest, ASignThatComesTooLateDoesNoHarm) {
  std::function<void()> late;
  {
    RollCall roll;
    late = roll.Expect("late");
    EXPECT_THAT(roll.Missing(1ms), ElementsAre("late"));
  }
  late();
}

TEST(RollCallTest, TheSessionsThreadComesAround) {
  server::SessionPoller poller;
  RollCall roll;
  poller.Ping(roll.Expect("poller"));
  EXPECT_THAT(roll.Missing(20'000ms), IsEmpty());
}

TEST(WatchdogTest, SignsEndWithLifeAndComeAgainWithIt) {
  std::atomic<bool> works = true;
  std::atomic<int> signs = 0;
  std::atomic<int> hangs = 0;
  Watchdog watchdog(4ms, {.check =
                              [&](std::chrono::milliseconds limit) {
                                EXPECT_EQ(limit, 2ms);
                                return works ? absl::OkStatus() : absl::UnavailableError("stuck");
                              },
                          .alive = [&] { ++signs; },
                          .hangs =
                              [&](const absl::Status& why) {
                                EXPECT_EQ(why.message(), "stuck");
                                ++hangs;
                              }});
  EXPECT_TRUE(Eventually([&] { return signs > 2; }));
  works = false;
  EXPECT_TRUE(Eventually([&] { return hangs > 0; }));
  const int before = signs;
  EXPECT_TRUE(Eventually([&] { return hangs > 3; }));
  EXPECT_EQ(signs, before);
  works = true;
  EXPECT_TRUE(Eventually([&] { return signs > before; }));
}

TEST(WatchdogTest, EndsAtOnce) {
  const Watchdog watchdog(std::chrono::hours(1), {.check = [](auto) { return absl::OkStatus(); },
                                                  .alive = [] {},
                                                  .hangs = [](const absl::Status&) {}});
}

}  // namespace
}  // namespace gdnplan::test
