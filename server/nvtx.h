// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A named range for Nsight's timelines. Costs nothing when no tool listens, and is nothing without
// CUDA.
#pragma once

#if defined(GDNPLAN_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace gdnplan::server {

class NvtxRange {
 public:
#if defined(GDNPLAN_CUDA)
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
#else
  explicit NvtxRange(const char* /*name*/) {}
  ~NvtxRange() = default;
#endif
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace gdnplan::server
