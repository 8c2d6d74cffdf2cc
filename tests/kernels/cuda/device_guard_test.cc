// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/device_guard.h"

#include <utility>

#include "tests/testing/gpu_test.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::GpuTest;
using test::StatusIs;

int Current() {
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  return current;
}

class DeviceGuardTest : public GpuTest {};

TEST_F(DeviceGuardTest, RestoresWhatWasCurrent) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const int last = num_gpus_ - 1;
  {
    auto guard = DeviceGuard::Create(last);
    ASSERT_TRUE(guard.ok()) << guard.status();
    EXPECT_EQ(Current(), last);
    // Only the last owner restores.
    const DeviceGuard moved = *std::move(guard);
    EXPECT_EQ(Current(), last);
  }
  EXPECT_EQ(Current(), 0);
}

TEST_F(DeviceGuardTest, RefusesAnOrdinalThatIsNone) {
  const auto guard = DeviceGuard::Create(num_gpus_);
  EXPECT_THAT(guard,
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("cudaErrorInvalidDevice")));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(Current(), 0);
}

}  // namespace
}  // namespace gdnplan::cuda
