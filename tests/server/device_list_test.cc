// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/device_list.h"

#include <gtest/gtest.h>

#include "server/cuda_devices.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::DeviceSelection;
using server::ParseDeviceSelection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = DeviceSelection::Kind;

TEST(DeviceSelectionTest, ParsesEveryForm) {
  EXPECT_EQ(ParseDeviceSelection("auto")->kind, Kind::kAuto);
  EXPECT_EQ(ParseDeviceSelection("host")->kind, Kind::kHost);
  EXPECT_EQ(ParseDeviceSelection("host")->num_hosts, 1);
  EXPECT_EQ(ParseDeviceSelection("host:4")->num_hosts, 4);
  EXPECT_EQ(ParseDeviceSelection("cuda")->kind, Kind::kCuda);
  EXPECT_TRUE(ParseDeviceSelection("cuda")->gpus.empty());
  EXPECT_THAT(ParseDeviceSelection("cuda:0,GPU-1a2b")->gpus, ElementsAre("0", "GPU-1a2b"));
}

TEST(DeviceSelectionTest, RefusesAllElse) {
  for (const char* text : {"", "gpu", "auto:1", "host:", "host:0", "host:17", "host:x", "host:-1",
                           "cuda:", "cuda:0,", "cuda:,1", "Host"}) {
    EXPECT_THAT(ParseDeviceSelection(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::AllOf(HasSubstr("device: must be"),
                                          HasSubstr("got " + std::string(text)))))
        << text;
  }
}

TEST(DeviceSelectionTest, OnlyGpusMayUseCuda) {
  EXPECT_FALSE(server::MayUseCuda(*ParseDeviceSelection("host:2")));
  EXPECT_EQ(server::MayUseCuda(*ParseDeviceSelection("cuda:0")), server::BuiltWithCuda());
  if (server::BuiltWithCuda()) return;
  EXPECT_FALSE(server::MayUseCuda(*ParseDeviceSelection("auto")));
}

TEST(DeviceListTest, OpensHosts) {
  const auto list =
      server::OpenDevices(*ParseDeviceSelection("host:2"), server::Boot::Create().value());
  ASSERT_THAT(list, IsOk());
  ASSERT_EQ(list->devices.size(), 2u);
  EXPECT_EQ(list->devices[0]->info().id, "host");
  EXPECT_EQ(list->devices[1]->info().id, "host:1");
  EXPECT_EQ(list->note, "");
}

TEST(DeviceListTest, FallsBackOnlyWhenNobodyAskedForGpus) {
  if (server::BuiltWithCuda()) GTEST_SKIP() << "depends on the machine";
  const auto boot = server::Boot::Create().value();
  const auto list = server::OpenDevices(*ParseDeviceSelection("auto"), boot);
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->devices.front()->info().id, "host");
  EXPECT_THAT(list->note, HasSubstr("without CUDA"));
  EXPECT_THAT(server::OpenDevices(*ParseDeviceSelection("cuda"), boot),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--device=host")));
}

}  // namespace
}  // namespace gdnplan::test
