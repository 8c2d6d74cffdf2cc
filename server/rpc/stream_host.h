// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the streams of a server share.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "server/mutex.h"
#include "server/rpc/announcer.h"
#include "server/rpc/completion_thread.h"
#include "server/rpc/planner_rpcs.h"
#include "server/session_registry.h"
#include "server/token_file.h"

namespace gdnplan::server {

class PlanStream;
class PlanWatch;

// At most, see v1::GetServerInfoResponse::Limits.
struct StreamLimits {
  // What a stream has room for; the limit may be less.
  static constexpr size_t kMaxPlansInFlight = 16;

  size_t max_streams = 256;
  size_t max_plans_in_flight = kMaxPlansInFlight;
};

using CompletionThreads = std::vector<std::unique_ptr<CompletionThread>>;

// Thread safe. Outlives the completion threads.
class StreamHost {
 public:
  // tokens: that streams need; none: they need none.
  StreamHost(PlannerRpcs& service, SessionRegistry& registry, const StreamLimits& limits,
             const TokenFile* tokens)
      : service_(service), registry_(registry), limits_(limits), tokens_(tokens) {}

  PlannerRpcs& service() { return service_; }
  SessionRegistry& registry() { return registry_; }
  const StreamLimits& limits() const { return limits_; }
  const TokenFile* tokens() const { return tokens_; }
  Announcer& announcer() { return announcer_; }

  // Accepts streams from now on, with the first of the threads. They outlive every stream.
  void Serve(const CompletionThreads& threads);
  // Where the next stream's events go.
  CompletionThread& ThreadForNextStream();

  // Streams that Stop reaches. Unavailable once stopped; ResourceExhausted.
  absl::Status Add(PlanStream& stream);
  absl::Status Add(PlanWatch& watch);
  void Remove(PlanStream& stream);
  void Remove(PlanWatch& watch);
  // Streams answer what they have read and end; no new ones are served.
  void Stop();

 private:
  void Count(const PlanStream& stream, int change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  PlannerRpcs& service_;
  SessionRegistry& registry_;
  const StreamLimits limits_;
  const TokenFile* const tokens_;
  Announcer announcer_;

  Mutex mutex_;
  struct Thread {
    CompletionThread* thread;
    int num_streams;
  };
  std::vector<Thread> threads_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<PlanStream*> streams_ ABSL_GUARDED_BY(mutex_);
  std::set<PlanWatch*> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gdnplan::server
