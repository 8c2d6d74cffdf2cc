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

absl::Status WriteValues(StreamView stream, void* first, void* second, uint64_t next) {
  GDNPLAN_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Get());
  CUstreamBatchMemOpParams writes[2] = {};
  for (int i = 0; i < 2; ++i) {
    writes[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    writes[i].writeValue.address = Address(i == 0 ? first : second);
    writes[i].writeValue.value64 = next;
    writes[i].writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  }
  return ToStatus(api->stream_batch_mem_op(stream.get(), 2, writes, 0), "cuStreamBatchMemOp");
}

absl::Status WriteValue(StreamView stream, void* value, uint64_t next) {
  GDNPLAN_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Get());
  // The default flags order all earlier work of the stream, transfers too, before the write.
  return ToStatus(
      api->stream_write_value64(stream.get(), Address(value), next, CU_STREAM_WRITE_VALUE_DEFAULT),
      "cuStreamWriteValue64");
}

}  // namespace gdnplan::cuda
