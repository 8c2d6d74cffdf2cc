// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/cuda/stream.h"

namespace gdnplan::cuda {

absl::Status StreamView::Synchronize() const {
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream_));
  return absl::OkStatus();
}

absl::StatusOr<Stream> Stream::Create() {
  cudaStream_t stream = nullptr;
  GDNPLAN_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

}  // namespace gdnplan::cuda
