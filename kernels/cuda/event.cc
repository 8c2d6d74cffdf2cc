// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/event.h"

namespace gdnplan::cuda {

absl::StatusOr<Event> Event::Create() {
  cudaEvent_t event = nullptr;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

}  // namespace gdnplan::cuda
