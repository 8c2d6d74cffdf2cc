// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/poll_mode.h"

#include <gtest/gtest.h>

namespace gdnplan::test {
namespace {

using server::PollMode;
using server::PollPolicy;
using std::chrono::hours;
using std::chrono::microseconds;

void Wait(PollPolicy& policy, PollPolicy::Duration waited, int times) {
  for (int i = 0; i < times; ++i) policy.Waited(waited);
}

TEST(PollPolicyTest, AlwaysPollsWithoutEnd) {
  PollPolicy policy(PollMode::kAlways);
  EXPECT_EQ(policy.budget(), PollPolicy::Duration::max());
  policy.Waited(hours(1));
  EXPECT_EQ(policy.budget(), PollPolicy::Duration::max());
}

TEST(PollPolicyTest, NeverSleepsAtOnce) {
  PollPolicy policy(PollMode::kNever);
  EXPECT_EQ(policy.budget(), PollPolicy::Duration::zero());
  Wait(policy, microseconds(1), 100);
  EXPECT_EQ(policy.budget(), PollPolicy::Duration::zero());
}

TEST(PollPolicyTest, AdaptiveSleepsUntilRequestsComeDensely) {
  PollPolicy policy(PollMode::kAdaptive);
  EXPECT_EQ(policy.budget(), PollPolicy::Duration::zero());
  Wait(policy, microseconds(100), 100);
  EXPECT_GE(policy.budget(), microseconds(150));
  EXPECT_LE(policy.budget(), microseconds(250));
  // However dense they are, it does not sleep in a hurry.
  Wait(policy, microseconds(0), 100);
  EXPECT_EQ(policy.budget(), PollPolicy::kLeast);
}

TEST(PollPolicyTest, AdaptivePollsAgainSoonAfterASingleLongWait) {
  PollPolicy policy(PollMode::kAdaptive);
  Wait(policy, microseconds(0), 100);
  policy.Waited(hours(1));
  policy.Waited(microseconds(0));
  EXPECT_GT(policy.budget(), PollPolicy::Duration::zero());
}

TEST(PollPolicyTest, AdaptiveSleepsWhereRequestsComeSeldomAndFindsBack) {
  PollPolicy policy(PollMode::kAdaptive);
  Wait(policy, microseconds(10), 100);
  Wait(policy, 2 * PollPolicy::kDense, 100);
  EXPECT_EQ(policy.budget(), PollPolicy::Duration::zero());
  Wait(policy, hours(1), 100);
  Wait(policy, microseconds(10), 20);
  EXPECT_GT(policy.budget(), PollPolicy::Duration::zero());
}

TEST(PollModeTest, HasANameForEachMode) {
  EXPECT_STREQ(ToString(PollMode::kAdaptive), "adaptive");
  EXPECT_STREQ(ToString(PollMode::kAlways), "always");
  EXPECT_STREQ(ToString(PollMode::kNever), "never");
}

}  // namespace
}  // namespace gdnplan::test
