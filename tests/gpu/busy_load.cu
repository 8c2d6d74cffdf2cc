// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/gpu/busy_load.h"

namespace gdnplan::test {
namespace {

constexpr float kKernelUs = 20;
constexpr int kKernelsPerGraph = 100;
constexpr int kGraphsInFlight = 3;
constexpr int kThreads = 1024;

// Ends the program with the call's text when it failed.
#define CHECK_CUDA(call) Check((call), #call)
void Check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "busy load: %s from %s\n", cudaGetErrorName(error), call);
  std::exit(1);
}

// A fixed amount of work, not of time: time slices of others must not make it shorter.
__global__ void __launch_bounds__(kThreads) WorkKernel(int rounds, float* never) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < rounds; ++i) value = value * 0.999F + 1.0F;
  if (value < 0) *never = value;  // keeps the loop
}

struct Work {
  unsigned blocks = 0;
  int rounds = 0;
  float* never = nullptr;
};

void Launch(const Work& work, cudaStream_t stream) {
  WorkKernel<<<work.blocks, kThreads, 0, stream>>>(work.rounds, work.never);
  CHECK_CUDA(cudaGetLastError());
}

// The shortest of some runs: others may use the GPU meanwhile.
float KernelUs(const Work& work, cudaStream_t stream) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  float best_ms = 1e9F;
  for (int run = 0; run < 20; ++run) {
    CHECK_CUDA(cudaEventRecord(begin, stream));
    Launch(work, stream);
    CHECK_CUDA(cudaEventRecord(end, stream));
    CHECK_CUDA(cudaEventSynchronize(end));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
    best_ms = std::min(best_ms, ms);
  }
  CHECK_CUDA(cudaEventDestroy(begin));
  CHECK_CUDA(cudaEventDestroy(end));
  return best_ms * 1000;
}

// As many blocks as fit at once, and the rounds that take kKernelUs.
Work Calibrate(int device, cudaStream_t stream) {
  int multiprocessors = 0;
  int blocks_each = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, WorkKernel, kThreads, 0));
  Work work;
  work.blocks = static_cast<unsigned>(multiprocessors * blocks_each);
  CHECK_CUDA(cudaMalloc(&work.never, sizeof(float)));
  // A slope from two lengths: the launch itself has its share.
  constexpr int kShort = 2'000;
  constexpr int kLong = 20'000;
  work.rounds = kShort;
  const float short_us = KernelUs(work, stream);
  work.rounds = kLong;
  const float round_us = std::max(1e-5F, (KernelUs(work, stream) - short_us) / (kLong - kShort));
  work.rounds = std::max(1, static_cast<int>(kKernelUs / round_us));
  return work;
}

cudaGraphExec_t Record(const Work& work, cudaStream_t stream) {
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kKernelsPerGraph; ++i) Launch(work, stream);
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CHECK_CUDA(cudaGraphDestroy(graph));
  return executable;
}

}  // namespace

void RunBusyLoad(int device, const std::function<bool()>& stop,
                 const std::function<void()>& on_full) {
  CHECK_CUDA(cudaSetDevice(device));
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Work work = Calibrate(device, stream);
  const cudaGraphExec_t graph = Record(work, stream);
  cudaEvent_t done[kGraphsInFlight];
  for (cudaEvent_t& event : done) {
    CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  for (long n = 0; !stop(); ++n) {
    cudaEvent_t event = done[n % kGraphsInFlight];
    if (n >= kGraphsInFlight) CHECK_CUDA(cudaEventSynchronize(event));
    CHECK_CUDA(cudaGraphLaunch(graph, stream));
    CHECK_CUDA(cudaEventRecord(event, stream));
    if (n == kGraphsInFlight) on_full();
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
  for (cudaEvent_t& event : done) CHECK_CUDA(cudaEventDestroy(event));
  CHECK_CUDA(cudaGraphExecDestroy(graph));
  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaFree(work.never));
}

}  // namespace gdnplan::test
