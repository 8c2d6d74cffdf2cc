// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/status.h"

#include <gmock/gmock.h>

#include <string>

#include "gdnplan/plan/status.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::cuda {
namespace {

using test::IsOk;
using test::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Case {
  cudaError_t error;
  absl::StatusCode code;
  bool sticky;
};

constexpr Case kCases[] = {
    {cudaErrorMemoryAllocation, absl::StatusCode::kResourceExhausted, false},
    {cudaErrorMpsMaxClientsReached, absl::StatusCode::kResourceExhausted, false},
    {cudaErrorNoDevice, absl::StatusCode::kFailedPrecondition, false},
    {cudaErrorInsufficientDriver, absl::StatusCode::kFailedPrecondition, false},
    {cudaErrorNotSupported, absl::StatusCode::kFailedPrecondition, false},
    {cudaErrorDevicesUnavailable, absl::StatusCode::kUnavailable, false},
    {cudaErrorMpsConnectionFailed, absl::StatusCode::kUnavailable, false},
    {cudaErrorInvalidValue, absl::StatusCode::kInternal, false},
    {cudaErrorInvalidResourceHandle, absl::StatusCode::kInternal, false},
    {cudaErrorNotReady, absl::StatusCode::kInternal, false},
    {cudaErrorIllegalAddress, absl::StatusCode::kInternal, true},
    {cudaErrorLaunchFailure, absl::StatusCode::kInternal, true},
    {cudaErrorLaunchTimeout, absl::StatusCode::kInternal, true},
    {cudaErrorECCUncorrectable, absl::StatusCode::kInternal, true},
    {cudaErrorMpsClientTerminated, absl::StatusCode::kInternal, true},
    {cudaErrorUnknown, absl::StatusCode::kInternal, true},
};

TEST(ToStatusTest, EveryKindOfError) {
  for (const Case& c : kCases) {
    const absl::Status status = ToStatus(c.error, "cudaThing(&x)");
    EXPECT_THAT(status, StatusIs(c.code, AllOf(StartsWith(cudaGetErrorName(c.error)),
                                               HasSubstr(cudaGetErrorString(c.error)),
                                               HasSubstr("from cudaThing(&x)"))));
    EXPECT_EQ(IsSticky(c.error), c.sticky) << cudaGetErrorName(c.error);
    EXPECT_EQ(plan::IsSticky(status), c.sticky) << cudaGetErrorName(c.error);
  }
}

TEST(ToStatusTest, Success) {
  EXPECT_THAT(ToStatus(cudaSuccess, "cudaThing()"), IsOk());
  EXPECT_FALSE(IsSticky(cudaSuccess));
}

absl::Status Two(cudaError_t first, cudaError_t second, int& reached) {
  GDNPLAN_CUDA_RETURN_IF_ERROR(first);
  ++reached;
  GDNPLAN_CUDA_RETURN_IF_ERROR(second);
  ++reached;
  return absl::OkStatus();
}

TEST(ReturnIfErrorTest, StopsAtTheFirstError) {
  int reached = 0;
  EXPECT_THAT(Two(cudaSuccess, cudaErrorMemoryAllocation, reached),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("from second")));
  EXPECT_EQ(reached, 1);
  EXPECT_THAT(Two(cudaSuccess, cudaSuccess, reached), IsOk());
  EXPECT_EQ(reached, 3);
}

TEST(LogIfErrorTest, SaysNothingAtTheEndOfTheRuntime) {
  testing::internal::CaptureStderr();
  LogIfError(cudaSuccess, "cudaFree");
  LogIfError(cudaErrorCudartUnloading, "cudaFree");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  LogIfError(cudaErrorInvalidValue, "cudaFree");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cudaErrorInvalidValue"));
}

}  // namespace
}  // namespace gdnplan::cuda
