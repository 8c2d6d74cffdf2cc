// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// For tests that need a GPU: elsewhere they are skipped.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace gdnplan::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      static_cast<void>(cudaGetLastError());
      GTEST_SKIP() << "needs a GPU: " << cudaGetErrorName(error) << ", " << count << " visible";
    }
    num_gpus_ = count;
  }

  int num_gpus_ = 0;
};

}  // namespace gdnplan::test
