// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The driver's stream memory operations, found at run time.
#pragma once

#include <cuda.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::cuda {

struct DriverApi {
  CUresult (*stream_wait_value64)(CUstream, CUdeviceptr, cuuint64_t, unsigned int);
  CUresult (*stream_write_value64)(CUstream, CUdeviceptr, cuuint64_t, unsigned int);
  CUresult (*stream_batch_mem_op)(CUstream, unsigned int, CUstreamBatchMemOpParams*, unsigned int);
  CUresult (*device_get)(CUdevice*, int);
  CUresult (*device_get_attribute)(int*, CUdevice_attribute, CUdevice);
  CUresult (*device_get_uuid)(CUuuid*, CUdevice);     // of the whole GPU
  CUresult (*device_get_uuid_v2)(CUuuid*, CUdevice);  // of the MIG instance, where there is one

  // Loaded once. FailedPrecondition where the driver is missing or too old.
  static absl::StatusOr<const DriverApi*> Get();
};

absl::Status ToStatus(CUresult result, const char* call);

}  // namespace gdnplan::cuda
