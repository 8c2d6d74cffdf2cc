// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The exchange's worker as its scheduler sees it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"
#include "tests/gpu/child_process.h"
#include "tests/gpu/compare.h"

namespace gdnplan::test {

class WorkerProcess {
 public:
  static absl::StatusOr<WorkerProcess> Start(const std::vector<std::string>& arguments,
                                             const std::string& session_id);

  // Plans made before this belong to nobody.
  absl::Status AwaitAttached() const;
  absl::Status Send(uint64_t index, const client::PlanView& plan);
  // The highest promise, `promised` included. Waits that long for the first one. Aborted: the
  // worker ended.
  absl::StatusOr<uint64_t> ReadPromises(uint64_t promised, int timeout_ms) const;

  void Kill() { process_.Kill(); }
  // Lets it work off what it was sent, and waits for its end.
  absl::Status Finish();

  uint64_t sent() const { return sent_; }
  // What it has found so far; stays readable when it was killed.
  CompareCounts counts() const { return *counts_; }

 private:
  WorkerProcess(ChildProcess process, UniqueFd frames, UniqueFd replies,
                const CompareCounts* counts)
      : process_(std::move(process)),
        frames_(std::move(frames)),
        replies_(std::move(replies)),
        counts_(counts) {}

  ChildProcess process_;
  UniqueFd frames_;
  UniqueFd replies_;
  const CompareCounts* counts_;  // mapped to the end of this process
  uint64_t sent_ = 0;
};

}  // namespace gdnplan::test
