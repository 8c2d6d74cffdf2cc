// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/fill_mode.h"

#include <gtest/gtest.h>

namespace gdnplan::server {
namespace {

TEST(FillModeTest, DoesAsItIsTold) {
  EXPECT_FALSE(UseKernelFill(FillMode::kCopy, /*mps=*/true, kKernelFillBytes));
  EXPECT_TRUE(UseKernelFill(FillMode::kKernel, /*mps=*/false, 0));
}

TEST(FillModeTest, AutoTakesTheKernelOnlyUnderMpsAndForMuchToExpand) {
  EXPECT_FALSE(UseKernelFill(FillMode::kAuto, /*mps=*/false, 1 << 30));
  EXPECT_FALSE(UseKernelFill(FillMode::kAuto, /*mps=*/true, kKernelFillBytes - 1));
  EXPECT_TRUE(UseKernelFill(FillMode::kAuto, /*mps=*/true, kKernelFillBytes));
}

TEST(FillModeTest, StatesAreNotExpanded) {
  plan::StepInput input;
  input.num_rows = 1024;
  input.num_groups = 36;
  plan::PlanLayout layout;
  layout.packed_bytes = 4224 + 4 * 1024 * 36;
  EXPECT_EQ(ExpandedBytes(input, layout), 4224);
  input.counts.num_conv_programs = 1000;
  EXPECT_EQ(ExpandedBytes(input, layout), 4224 + 8000);
}

TEST(FillModeTest, SaysWhatAutoComesTo) {
  EXPECT_EQ(Explain(FillMode::kAuto, /*mps=*/false), "auto, always copy (no MPS)");
  EXPECT_EQ(Explain(FillMode::kAuto, /*mps=*/true),
            "auto, kernel for plans that it expands by 128 KiB or more, else copy (MPS)");
  EXPECT_EQ(Explain(FillMode::kKernel, /*mps=*/false), "kernel (no MPS)");
}

}  // namespace
}  // namespace gdnplan::server
