// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/gpu_info.h"

#include <set>

#include "tests/testing/gpu_test.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::GpuTest;
using test::IsOkAndHolds;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class GpuInfoTest : public GpuTest {};

TEST_F(GpuInfoTest, ListsEachGpuOnce) {
  const auto gpus = ListGpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  ASSERT_EQ(static_cast<int>(gpus->size()), num_gpus_);
  std::set<std::string> uuids;
  for (int i = 0; i < num_gpus_; ++i) {
    const GpuInfo& gpu = (*gpus)[static_cast<size_t>(i)];
    EXPECT_EQ(gpu.ordinal, i);
    EXPECT_THAT(gpu.uuid, MatchesRegex("(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
    EXPECT_FALSE(gpu.name.empty());
    EXPECT_GT(gpu.memory_bytes, 1U << 30);
    uuids.insert(gpu.uuid);
  }
  EXPECT_EQ(uuids.size(), gpus->size());
}

TEST_F(GpuInfoTest, FindsEachByItsUuid) {
  const auto gpus = ListGpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  for (const GpuInfo& gpu : *gpus) EXPECT_THAT(FindGpu(gpu.uuid), IsOkAndHolds(gpu.ordinal));
}

TEST_F(GpuInfoTest, SaysWhatIsVisibleInstead) {
  const auto gpus = ListGpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  EXPECT_THAT(FindGpu("GPU-none"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("GPU GPU-none is not visible to this process; it sees"),
                             HasSubstr(gpus->front().uuid), HasSubstr("CUDA_VISIBLE_DEVICES"))));
}

TEST(GpuInfoWithoutGpuTest, IsAFailedPrecondition) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) GTEST_SKIP() << "there is a GPU";
  int driver = 0;
  ASSERT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_THAT(ListGpus(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr(driver == 0 ? "no NVIDIA driver" : "")));
  EXPECT_THAT(FindGpu("GPU-none"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace gdnplan::cuda
