// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A consumer of plans that checks every byte of them, in the order of one stream: what an engine's
// worker does, with a comparison in the attention's place.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/cuda/stream.h"
#include "tests/gpu/compare.h"
#include "tests/testing/planned_slot.h"

namespace gdnplan::test {

// Not thread safe. Its calls want the session's GPU to be current.
class PlanChecker {
 public:
  // `session` must outlive it. `report`: page-locked host memory that gets what was found so far
  // with each plan, in the stream's order.
  static absl::StatusOr<PlanChecker> Create(const client::Session& session, CompareCounts* report);

  // Enqueues: wait until the plan is ready, compare, be busy that long, compare again, report, mark
  // as consumed. The CPU waits for nothing but room for the expected bytes, some plans back.
  // Internal: the answer does not describe the batch's plan.
  absl::Status Enqueue(const client::PlanView& plan, const plan::BatchView& batch,
                       uint32_t busy_ns);

  cuda::StreamView stream() const { return stream_; }

 private:
  struct DestroyEvent {
    using pointer = cudaEvent_t;
    void operator()(cudaEvent_t event) const noexcept {
      cuda::LogIfError(cudaEventDestroy(event), "cudaEventDestroy");
    }
  };
  using Event = std::unique_ptr<cudaEvent_t, DestroyEvent>;
  // Where the expected bytes of one plan are.
  struct Entry {
    std::byte* host = nullptr;
    std::byte* device = nullptr;
    Event done;  // with the comparisons
  };
  struct Memory {
    cuda::PinnedMemory host;
    cuda::DeviceMemory device;
    cuda::DeviceMemory counts;
  };

  PlanChecker(const client::Session& session, CompareCounts* report, PlannedSlot slot,
              Memory memory, cuda::Stream stream);
  absl::Status AddEntries();
  absl::StatusOr<CompareParams> Ranges(const client::PlanView& plan,
                                       const std::byte* expected) const;
  absl::Status Upload(const Entry& entry);

  const client::Session* session_;
  CompareCounts* report_;
  PlannedSlot slot_;
  Memory memory_;
  cuda::Stream stream_;
  std::vector<Entry> entries_;
  uint64_t num_plans_ = 0;
};

// What went wrong first, for people; empty when nothing did.
std::string DescribeFirst(const CompareCounts& counts);

}  // namespace gdnplan::test
