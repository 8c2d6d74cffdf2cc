// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A call of one request and one answer.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "server/rpc/error_details.h"
#include "server/rpc/rpc_call.h"

namespace gdnplan::server {

// State: what the handler keeps with the call; gone with it.
template <typename Request, typename Response, typename State>
class UnaryCall final : public RpcCall {
 public:
  // What all calls of a method share. Outlives them.
  struct Method {
    // The generated service's Request...(context, request, writer, queue, queue, tag).
    std::function<void(grpc::ServerContext*, Request*, grpc::ServerAsyncResponseWriter<Response>*,
                       grpc::ServerCompletionQueue*, Tag*)>
        request;
    // On the queue's thread; must not block. It, or whoever it hands the call to, calls Finish.
    std::function<void(UnaryCall&)> handle;
    // After the RPC is over, when cancelled() says whether the client went without its answer. May
    // be empty.
    std::function<void(UnaryCall&)> over;
    // That its calls need; none: they need none.
    const TokenFile* tokens = nullptr;
    // Told of a call that has none of them.
    std::function<void(const absl::Status&)> refused = nullptr;
  };

  // Waits for an RPC from now on, and for another one when it came.
  static void Post(const Method& method, CompletionThread& thread) {
    new UnaryCall(method, thread);
  }

  const Request& request() const { return request_; }
  Response& response() { return response_; }
  State& state() { return state_; }

  // Once, from any thread. The call may be gone as this returns.
  void Finish(const absl::Status& status) {
    if (status.ok()) {
      writer_.Finish(response_, grpc::Status::OK, &finish_tag_);
    } else {
      writer_.FinishWithError(ToRpcStatus(status), &finish_tag_);
    }
  }

 private:
  ~UnaryCall() override {
    if (method_.over) method_.over(*this);
  }
  UnaryCall(const Method& method, CompletionThread& thread)
      : RpcCall(thread), method_(method), writer_(&context()) {
    method_.request(&context(), &request_, &writer_, &queue(), start_tag());
  }

  void OnStart() override {
    Post(method_, thread());
    BeginOperation();  // Finish
    const absl::Status admitted = CheckToken(method_.tokens);
    if (!admitted.ok()) {
      method_.refused(admitted);
      return Finish(admitted);
    }
    method_.handle(*this);
  }
  void OnFinished(bool /*ok*/) { EndOperation(); }

  const Method& method_;
  Request request_;
  Response response_;
  State state_;
  grpc::ServerAsyncResponseWriter<Response> writer_;
  MemberTag<UnaryCall, &UnaryCall::OnFinished> finish_tag_{*this};
};

}  // namespace gdnplan::server
