// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/session_state.h"
#include "client/stub_stream.h"
#include "gdnplan/client/plan_stream.h"
#include "gdnplan/client/plan_view.h"

namespace gdnplan::client {

// What a PlanStream consists of. One thread submits, one takes.
class PlanStreamState {
 public:
  using Timeout = std::optional<std::chrono::milliseconds>;

  PlanStreamState(std::shared_ptr<SessionState> session, std::unique_ptr<StubStream> stream,
                  size_t device, int max_in_flight);
  ~PlanStreamState();

  absl::Status Submit(const plan::BatchView& batch, const PlanOptions& options);
  absl::StatusOr<PlanView> Next(const Timeout& timeout) { return Take(timeout, Late::kAskAgain); }
  // For who does not ask again: an answer that is late breaks the stream, for it would be taken for
  // the next one's. (Next's DeadlineExceeded may as well be the server's answer.)
  absl::StatusOr<PlanView> NextOrEnd(const Timeout& timeout) { return Take(timeout, Late::kEnd); }
  int in_flight() const;
  absl::Status broken() const;
  void Cancel(const absl::Status& reason);

 private:
  enum class Late : uint8_t { kAskAgain, kEnd };

  absl::StatusOr<PlanView> Take(const Timeout& timeout, Late late);
  // Counts a request, if there may be another one.
  absl::Status Begin();
  StreamDeadline DeadlineOf(const Timeout& timeout) const;
  // Nothing is in flight any more. The first reason counts, and is returned.
  absl::Status End(const absl::Status& reason);

  const std::shared_ptr<SessionState> session_;
  std::unique_ptr<StubStream> stream_;
  const size_t device_;
  const int max_in_flight_;

  // The submitter's, kept for their memory.
  v1::PlanStreamRequest request_;
  uint64_t last_tag_ = 0;
  // The taker's.
  v1::PlanStreamResponse response_;
  uint64_t last_taken_ = 0;

  mutable std::mutex mutex_;
  absl::Status broken_;  // guarded by mutex_, as is the next
  int in_flight_ = 0;
};

}  // namespace gdnplan::client
