// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A worker's stream that waits for plans, as far as a benchmark needs one.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/session.h"

namespace gdnplan::bench {

class Worker {
 public:
  virtual ~Worker() = default;

  // "My stream waits for the plan."
  virtual absl::Status WaitFor(const client::Session& session, const client::PlanView& plan) = 0;
  // The stream writes a mark next, for the CPU's eyes.
  virtual absl::Status Mark() = 0;
  // Whether the stream wrote the last mark, and so passed all waits before it.
  virtual bool Passed() const = 0;
};

// On the GPU of the session's first arena; on `host` the CPU looks at `ready` itself.
absl::StatusOr<std::unique_ptr<Worker>> MakeWorker(const client::Session& session);

// Keeps the GPU full from this process while it lives, as an engine does whose worker waits for
// plans.
class Load {
 public:
  virtual ~Load() = default;
};
// On the GPU of the session's first arena. Returns once it is full.
absl::StatusOr<std::unique_ptr<Load>> MakeLoad(const client::Session& session);

}  // namespace gdnplan::bench
