// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Owner and view of a CUDA stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "gdnplan/cuda/status.h"

namespace gdnplan::cuda {

// A stream somebody else owns. A stray 0 or nullptr is no stream.
class StreamView {
 public:
  StreamView(cudaStream_t stream) : stream_(stream) {}  // NOLINT: a view converts
  StreamView(int) = delete;
  StreamView(std::nullptr_t) = delete;

  cudaStream_t get() const { return stream_; }
  // Blocks the calling thread until all work of the stream is done.
  absl::Status Synchronize() const;

 private:
  cudaStream_t stream_;
};

// Non-blocking: does not order itself against the default stream. Move only. The destructor does
// not wait for work.
class Stream {
 public:
  // On the current device, with the default priority: streams of others have fewer hardware queues
  // to share.
  static absl::StatusOr<Stream> Create();

  StreamView view() const { return {stream_.get()}; }
  operator StreamView() const { return view(); }  // NOLINT: as the view

 private:
  struct Deleter {
    using pointer = cudaStream_t;
    void operator()(cudaStream_t stream) const noexcept {
      LogIfError(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }
  };
  explicit Stream(cudaStream_t stream) : stream_(stream) {}

  std::unique_ptr<cudaStream_t, Deleter> stream_;
};

}  // namespace gdnplan::cuda
