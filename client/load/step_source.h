// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where a load's steps come from: a fixed shape, or a simulated scheduler that serves a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::load {

struct Step {
  json::OwnedBatch batch;
  // When an engine would ask for it: seconds from the workload's start.
  double due_s = 0;
};

// One engine's steps, in order. Deterministic: the same options and seed make the same steps. Not
// thread safe.
class StepSource {
 public:
  virtual ~StepSource() = default;

  // The limits that every batch obeys.
  virtual const plan::PlanConfig& config() const = 0;
  // That the arrays of its largest batch take at least. 0: nobody knows before.
  virtual uint64_t max_batch_bytes() const { return 0; }
  // Makes the next step into `step`, whose arrays keep their memory. False: the workload is over.
  virtual bool Next(Step& step) = 0;
};

// What the session of a shape has, or more where the shape needs it: as an engine of that size.
struct UsualSize {
  int32_t max_num_seqs = 1024;
  int32_t max_num_batched_tokens = 16'384;
};

// Session number i's steps.
using SourceMaker =
    std::function<absl::StatusOr<std::unique_ptr<StepSource>>(int session, const UsualSize& usual)>;

}  // namespace gdnplan::load
