// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The service's streams, as messages; see stub.h.
#pragma once

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "gdnplan/v1/planner.pb.h"

namespace gdnplan::client {

using StreamDeadline = std::chrono::steady_clock::time_point;

// Any duration may be asked for: a year stands for longer ones, which would overflow.
inline StreamDeadline DeadlineIn(std::chrono::milliseconds timeout) {
  return std::chrono::steady_clock::now() +
         std::clamp<std::chrono::milliseconds>(timeout, std::chrono::milliseconds::zero(),
                                               std::chrono::hours(24 * 365));
}

// The PlanStream call. One thread may write while another reads; otherwise one at a time.
class StubStream {
 public:
  virtual ~StubStream() = default;

  // Returns once the message was taken over, also by a stream that is broken: Read says so.
  // DeadlineExceeded: it was not, for the server does not read. Other errors: what Read has said.
  virtual absl::Status Write(const v1::PlanStreamRequest& request, StreamDeadline deadline) = 0;
  // The next answer. DeadlineExceeded: not yet; a later call gets it. Other errors: what the stream
  // ended with.
  virtual absl::Status Read(v1::PlanStreamResponse& response, StreamDeadline deadline) = 0;
  // Ends the stream; whoever waits in Read is answered. From any thread.
  virtual void Cancel() = 0;
};

// The WatchPlans call; as StubStream, without writing.
class StubWatch {
 public:
  virtual ~StubWatch() = default;

  virtual absl::Status Read(v1::WatchPlansResponse& response, StreamDeadline deadline) = 0;
  virtual void Cancel() = 0;
};

}  // namespace gdnplan::client
