// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/lease.h"

#include <gtest/gtest.h>

#include "server/session_leases.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::Lease;
using server::LeaseTimes;
using server::SessionLeases;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr LeaseTimes kTimes{.length = milliseconds(100), .grace = milliseconds(10)};
constexpr Lease::Clock::time_point kBegin{std::chrono::hours(5)};

Lease::Clock::time_point At(int ms) { return kBegin + milliseconds(ms); }

TEST(LeaseTest, LapsesItsLengthAfterTheLastUse) {
  Lease lease(kTimes, kBegin);
  EXPECT_FALSE(lease.Lapsed(At(99)));
  EXPECT_TRUE(lease.Lapsed(At(100)));
  lease.Renew(At(60));
  EXPECT_EQ(lease.Left(At(60)), milliseconds(100));
  EXPECT_FALSE(lease.Lapsed(At(159)));
  EXPECT_TRUE(lease.Lapsed(At(160)));
}

TEST(LeaseTest, HoldsUntilTheLastRelease) {
  Lease lease(kTimes, kBegin);
  lease.Hold();
  lease.Hold();
  EXPECT_EQ(lease.Left(At(10'000)), Lease::Clock::duration::max());
  lease.Release(/*lost=*/false, At(10'000));
  EXPECT_FALSE(lease.Lapsed(At(20'000)));
  lease.Release(/*lost=*/false, At(20'000));
  EXPECT_FALSE(lease.Lapsed(At(20'099)));
  EXPECT_TRUE(lease.Lapsed(At(20'100)));
}

TEST(LeaseTest, ALostHolderHasTheGraceToComeBack) {
  Lease lease(kTimes, kBegin);
  lease.Hold();
  lease.Release(/*lost=*/true, At(50));
  EXPECT_FALSE(lease.Lapsed(At(59)));
  EXPECT_TRUE(lease.Lapsed(At(60)));
  lease.Renew(At(55));
  EXPECT_FALSE(lease.Lapsed(At(154)));
  EXPECT_TRUE(lease.Lapsed(At(155)));
}

TEST(LeaseTest, TheGraceIsNeverLongerThanTheLease) {
  Lease lease({.length = milliseconds(5), .grace = milliseconds(10)}, kBegin);
  lease.Hold();
  lease.Release(/*lost=*/true, At(50));
  EXPECT_TRUE(lease.Lapsed(At(55)));
}

TEST(LeaseTest, OfNoLengthNeverLapses) {
  Lease lease({.length = milliseconds(0), .grace = milliseconds(10)}, kBegin);
  lease.Hold();
  lease.Release(/*lost=*/true, At(1));
  EXPECT_EQ(lease.Left(At(1'000'000)), Lease::Clock::duration::max());
}

TEST(SessionLeasesTest, AttachmentsDoNotKeepTheOwnersLease) {
  SessionLeases leases(kTimes, kBegin);
  const uint64_t attachment = leases.Attach(At(90));
  EXPECT_THAT(leases.RenewAttached(attachment, At(95)), IsOk());
  EXPECT_THAT(leases.HoldAttached(attachment, At(95)), IsOk());
  EXPECT_TRUE(leases.Lapsed(At(100)));
  EXPECT_EQ(leases.CountAttached(At(10'000)), 1u);
}

TEST(SessionLeasesTest, AttachmentsLapseByThemselves) {
  SessionLeases leases(kTimes, kBegin);
  const uint64_t first = leases.Attach(At(0));
  const uint64_t second = leases.Attach(At(50));
  EXPECT_NE(first, second);
  EXPECT_EQ(leases.LeftAttached(second, At(60)), milliseconds(90));
  EXPECT_EQ(leases.CountAttached(At(99)), 2u);
  EXPECT_EQ(leases.CountAttached(At(100)), 1u);
  EXPECT_THAT(leases.RenewAttached(first, At(100)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("attachment_id")));
  EXPECT_THAT(leases.RenewAttached(second, At(150)), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(leases.LeftAttached(first, At(100)), Lease::Clock::duration::zero());
}

TEST(SessionLeasesTest, AnAttachmentWhoseStreamBrokeHasTheGrace) {
  SessionLeases leases(kTimes, kBegin);
  const uint64_t attachment = leases.Attach(At(0));
  ASSERT_THAT(leases.HoldAttached(attachment, At(0)), IsOk());
  leases.ReleaseAttached(attachment, /*lost=*/true, At(500));
  EXPECT_EQ(leases.CountAttached(At(509)), 1u);
  EXPECT_EQ(leases.CountAttached(At(510)), 0u);
  leases.ReleaseAttached(attachment, /*lost=*/true, At(511));  // nothing
}

TEST(SessionLeasesTest, DetachesOnce) {
  SessionLeases leases(kTimes, kBegin);
  const uint64_t attachment = leases.Attach(At(0));
  EXPECT_THAT(leases.Detach(attachment), IsOk());
  EXPECT_EQ(leases.CountAttached(At(0)), 0u);
  EXPECT_THAT(leases.Detach(attachment), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(leases.Detach(0), StatusIs(absl::StatusCode::kNotFound));
}

TEST(SessionLeasesTest, AllAreRenewedWhenTheServerStoodStill) {
  SessionLeases leases(kTimes, kBegin);
  leases.Attach(At(0));
  leases.RenewAll(At(5'000));
  EXPECT_FALSE(leases.Lapsed(At(5'099)));
  EXPECT_EQ(leases.CountAttached(At(5'099)), 1u);
}

}  // namespace
}  // namespace gdnplan::test
