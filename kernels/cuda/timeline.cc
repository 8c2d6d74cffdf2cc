// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/timeline.h"

#include "cuda/driver_api.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::cuda {
namespace {

CUdeviceptr Address(const void* value) { return reinterpret_cast<CUdeviceptr>(value); }

}  // namespace

absl::Status WaitValue(StreamView stream, const void* value, uint64_t target) {
  GDNPLAN_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Get());
  return ToStatus(
      api->stream_wait_value64(stream.get(), Address(value), target, CU_STREAM_WAIT_VALUE_GEQ),
      "cuStreamWaitValue64");
}

absl::Status WriteValue(StreamView stream, void* value, uint64_t next) {
  GDNPLAN_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Get());
  // The default flags order all earlier work of the stream, transfers too, before the write.
  return ToStatus(
      api->stream_write_value64(stream.get(), Address(value), next, CU_STREAM_WRITE_VALUE_DEFAULT),
      "cuStreamWriteValue64");
}

}  // namespace gdnplan::cuda
