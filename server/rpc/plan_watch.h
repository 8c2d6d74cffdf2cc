// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The WatchPlans RPC: a session's plans to one follower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gdnplan/v1/planner.grpc.pb.h"
#include "server/mutex.h"
#include "server/plan_follower.h"
#include "server/rpc/rpc_call.h"
#include "server/session.h"

namespace gdnplan::server {

class StreamHost;

// Keeps a follower's last plans until it takes them. Whoever plans only puts them there; the
// announcer's thread writes.
class PlanWatch final : public RpcCall, public PlanFollower {
 public:
  // Plans kept for a follower that is slow; the oldest is missed when another comes.
  static constexpr size_t kMaxKept = 64;

  // Waits for an RPC from now on, and for another one when it came.
  static void Post(StreamHost& host, CompletionThread& acceptor) { new PlanWatch(host, acceptor); }

  void OnPlan(const PlanResult& result) override;
  void OnEnd(const absl::Status& reason) override;
  // For the announcer.
  void Pump();

 private:
  PlanWatch(StreamHost& host, CompletionThread& acceptor);

  void OnStart() override;
  void OnOver() override;
  void OnWritten(bool ok);
  void OnFinished(bool /*ok*/) { EndOperation(); }

  absl::Status Begin();
  void Schedule() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  StreamHost& host_;
  CompletionThread& acceptor_;
  v1::WatchPlansRequest request_;
  v1::WatchPlansResponse response_;
  grpc::ServerAsyncWriter<v1::WatchPlansResponse> writer_;
  std::shared_ptr<Session> session_;
  bool holds_ = false;  // its attachment's lease

  Mutex mutex_;
  std::vector<PlanResult> kept_ ABSL_GUARDED_BY(mutex_);  // a ring
  size_t first_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t num_missed_ ABSL_GUARDED_BY(mutex_) = 0;
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = true;  // the first message goes before all else
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
  MemberTag<PlanWatch, &PlanWatch::OnWritten> write_tag_{*this};
  MemberTag<PlanWatch, &PlanWatch::OnFinished> finish_tag_{*this};
};

}  // namespace gdnplan::server
