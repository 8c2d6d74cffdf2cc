// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Owner of a CUDA event without timing: for order between streams of one process.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "absl/status/statusor.h"
#include "gdnplan/cuda/status.h"

namespace gdnplan::cuda {

// Move only. The destructor does not wait for work.
class Event {
 public:
  // On the current device.
  static absl::StatusOr<Event> Create();

  cudaEvent_t get() const { return event_.get(); }

 private:
  struct Deleter {
    using pointer = cudaEvent_t;
    void operator()(cudaEvent_t event) const noexcept {
      LogIfError(cudaEventDestroy(event), "cudaEventDestroy");
    }
  };
  explicit Event(cudaEvent_t event) : event_(event) {}

  std::unique_ptr<cudaEvent_t, Deleter> event_;
};

}  // namespace gdnplan::cuda
