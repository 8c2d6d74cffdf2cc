// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What all calls have in common: a context, operations that are under way, an end.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "server/rpc/completion_thread.h"
#include "server/rpc/tag.h"
#include "server/token_file.h"
#include "wire/bearer_token.h"

namespace gdnplan::server {

// Made to wait for one RPC, and deletes itself once that has ended and no operation of it is under
// way. Derived classes count the operations that they start.
class RpcCall {
 public:
  RpcCall(const RpcCall&) = delete;
  RpcCall& operator=(const RpcCall&) = delete;

  // Whether the client gave up, or its connection broke. From any thread.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // Whose queue its operations complete on.
  CompletionThread& thread() const { return thread_; }

 protected:
  explicit RpcCall(CompletionThread& thread) : thread_(thread) {
    context_.AsyncNotifyWhenDone(&done_tag_);
  }
  virtual ~RpcCall() = default;

  // On the thread of the queue that accepts: an RPC came; wait for the next one, then look at this
  // one.
  virtual void OnStart() = 0;
  // In OnStart. Unauthenticated: the call has none of the tokens, if there are any.
  absl::Status CheckToken(const TokenFile* tokens) const {
    if (tokens == nullptr) return absl::OkStatus();
    const auto& metadata = context_.client_metadata();
    const auto found = metadata.find(wire::kAuthorization);
    if (found == metadata.end()) return tokens->Check({});
    return tokens->Check({found->second.data(), found->second.size()});
  }
  // After OnStart. The RPC is over: its last bytes are sent, or it was cancelled.
  virtual void OnOver() {}

  // An operation is about to be started; from any thread, while another one is under way.
  void BeginOperation() { operations_.fetch_add(1, std::memory_order_relaxed); }
  // The last thing that an operation's completion does: the call may be gone then.
  void EndOperation() {
    if (operations_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    CompletionThread& thread = thread_;
    delete this;
    thread.RemoveCall();
  }

  grpc::ServerContext& context() { return context_; }
  grpc::ServerCompletionQueue& queue() const { return thread_.queue(); }
  Tag* start_tag() { return &start_tag_; }

 private:
  void OnStartTag(bool ok) {
    if (!ok) {  // the server shuts down, and there is no call
      delete this;
      return;
    }
    thread_.AddCall();
    BeginOperation();  // until OnOver
    OnStart();
    StartedOrDone();
  }
  void OnDoneTag(bool /*ok*/) {
    if (context_.IsCancelled()) cancelled_.store(true, std::memory_order_relaxed);
    StartedOrDone();
  }
  // A call that another queue accepted may be done while it starts, or before: the second of both
  // goes on, so that nothing goes while OnStart needs it, and OnOver undoes what OnStart did.
  void StartedOrDone() {
    if (!one_came_.exchange(true, std::memory_order_acq_rel)) return;
    OnOver();
    EndOperation();
  }

  CompletionThread& thread_;
  grpc::ServerContext context_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> one_came_ = false;
  std::atomic<int> operations_ = 0;
  MemberTag<RpcCall, &RpcCall::OnStartTag> start_tag_{*this};
  MemberTag<RpcCall, &RpcCall::OnDoneTag> done_tag_{*this};
};

}  // namespace gdnplan::server
