// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// One of many sessions on a server, its scheduler and its worker in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"
#include "gdnplan/cuda/memory.h"
#include "tests/gpu/plan_checker.h"

namespace gdnplan::test {

// How a worker stops.
enum class Stop : uint8_t {
  kSilent,  // it promises nothing any more
  kStuck,   // it promises, but its stream never gets there
};

struct CrowdSessionOptions {
  std::string device;  // empty: the server's first
  client::TimelinePlace timeline = client::TimelinePlace::kArena;
  uint64_t seed = 1;
};

// Not thread safe.
class CrowdSession {
 public:
  static absl::StatusOr<std::unique_ptr<CrowdSession>> Open(const client::Client& client,
                                                            const CrowdSessionOptions& options);

  // Once on each thread that calls the others.
  absl::Status UseGpu() const;
  // Plans, checks and consumes.
  absl::Status Step();
  // Plans as a scheduler does whose worker has stopped. False: the server refused, "slot busy".
  absl::StatusOr<bool> StepStopped(Stop how);
  // Waits for the stream; Internal if a byte of a plan was wrong.
  absl::Status Finish();
  // Lets the stream of a stuck worker go on.
  void Unstick();
  absl::Status Close() { return session_.Close(); }

  // How long each plan took, in milliseconds, since the last call.
  std::vector<double> TakeTimes() { return std::exchange(times_, {}); }

 private:
  CrowdSession(client::Session session, const CrowdSessionOptions& options,
               cuda::PinnedMemory pinned, int ordinal);
  absl::StatusOr<client::PlanView> Plan(const plan::BatchView& batch);
  CompareCounts* counts() const { return reinterpret_cast<CompareCounts*>(pinned_.data()); }
  void* gate() const { return pinned_.data() + kGateOffset; }

  static constexpr size_t kGateOffset = 1024;

  client::Session session_;
  const CrowdSessionOptions options_;
  cuda::PinnedMemory pinned_;  // the checker's report, and a value that a stuck stream waits for
  const int ordinal_;
  std::unique_ptr<PlanChecker> checker_;
  uint64_t num_batches_ = 0;
  uint64_t promised_ = 0;
  bool stuck_ = false;
  std::vector<double> times_;
};

}  // namespace gdnplan::test
