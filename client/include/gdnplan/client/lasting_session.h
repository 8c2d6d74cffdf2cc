// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session that its owner has again after its server restarted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"
#include "gdnplan/client/session.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::client {

struct LastingOptions {
  SessionOptions session = {};
  // How long a server that is gone is waited for.
  std::chrono::milliseconds patience{60'000};
  // Between attempts: at first, doubling up to the longest, each by chance between its half and the
  // whole, so that the clients of a node do not come all at once.
  std::chrono::milliseconds first_pause{20};
  std::chrono::milliseconds longest_pause{2'000};
  // Told of every session but the first, before it plans. Every address of before is gone: workers
  // attach anew, and CUDA graphs are captured again. Runs in the call that noticed.
  std::function<void(const Session& session)> on_reopened = nullptr;
};

// For schedulers. When a plan fails because the session is gone (NotFound), or the server
// (Unavailable), a new session is opened, mapped and announced, and the batch is planned there:
// what is planned twice does no harm, for nobody reads the first one's memory any more. Any other
// error is the caller's, as of Session. Not thread safe.
class LastingSession {
 public:
  // Opens the first one; waits for a server as later. Errors as of Client::OpenSession.
  static absl::StatusOr<LastingSession> Open(const Client& client, const plan::PlanConfig& config,
                                             const LastingOptions& options = {});

  // The last error once the patience is over.
  absl::StatusOr<PlanView> Plan(const plan::BatchView& batch, const PlanOptions& options = {});
  // For who learned otherwise that it is gone, such as from a stream that broke.
  absl::Status Reopen();

  // The session of now; a reference is good until Plan or Reopen opens another one. Streams are of
  // one session.
  Session& session() { return *session_; }
  // From 1, with every session one more. Plans of other generations must not be used any more.
  uint64_t generation() const { return generation_; }

 private:
  LastingSession(const Client& client, const plan::PlanConfig& config,
                 const LastingOptions& options);

  Client client_;
  plan::PlanConfig config_;
  LastingOptions options_;
  std::optional<Session> session_;
  uint64_t generation_ = 0;
};

}  // namespace gdnplan::client
