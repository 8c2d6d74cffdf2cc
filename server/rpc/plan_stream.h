// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The PlanStream RPC: requests in, plans out, in order.
#pragma once

#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <cstddef>
#include <memory>

#include "gdnplan/v1/planner.pb.h"
#include "server/mutex.h"
#include "server/rpc/rpc_call.h"
#include "server/rpc/stream_host.h"
#include "server/session.h"
#include "server/submission.h"

namespace gdnplan::server {

class PlanStream final : public RpcCall {
 public:
  // Requests read and not answered yet, at most.
  static constexpr size_t kMaxInFlight = StreamLimits::kMaxPlansInFlight;

  // Waits for an RPC from now on, and for another one when it came.
  static void Post(StreamHost& host, CompletionThread& acceptor) { new PlanStream(host, acceptor); }

  // No further request is read; the stream ends with `reason` once those read are answered. From
  // any thread, while the host knows the stream.
  void Stop(const absl::Status& reason);

 private:
  // One request and its answer, used again and again.
  class Item final : public Submission {
   public:
    void Done(const absl::StatusOr<PlanResult>& result) override {
      stream->Answer(*this, result);
      stream->EndOperation();
    }
    bool Abandoned() const override { return stream->cancelled(); }

    PlanStream* stream = nullptr;
    grpc::ByteBuffer request_bytes;
    v1::PlanStreamRequest request;
    v1::PlanStreamResponse response;
    grpc::ByteBuffer response_bytes;
    bool answered = false;  // guarded by the stream's mutex
  };

  PlanStream(StreamHost& host, CompletionThread& acceptor);

  void OnStart() override;
  void OnOver() override;
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool /*ok*/) { EndOperation(); }

  // The request that was read last is not answered, and the stream ends.
  void Refuse(const absl::Status& reason);
  // The item's request on its way to its session.
  // The first request's is the stream's.
  absl::Status TakeSession(const std::string& id);
  void Submit(Item& item);
  void Answer(Item& item, const absl::StatusOr<PlanResult>& result);
  // Reads, writes and finishes as far as is possible now.
  void Continue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Item& ItemAt(size_t index) { return items_[index % kMaxInFlight]; }

  StreamHost& host_;
  CompletionThread& acceptor_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> io_;
  std::shared_ptr<Session> session_;  // of the first request; only the queue's thread uses it
  std::array<Item, kMaxInFlight> items_;

  Mutex mutex_;
  // Items from first_ up to next_ are in flight; next_ is being read into.
  size_t first_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool no_more_requests_ ABSL_GUARDED_BY(mutex_) = false;
  bool no_more_answers_ ABSL_GUARDED_BY(mutex_) = false;  // nobody would get them
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
  MemberTag<PlanStream, &PlanStream::OnRead> read_tag_{*this};
  MemberTag<PlanStream, &PlanStream::OnWritten> write_tag_{*this};
  MemberTag<PlanStream, &PlanStream::OnFinished> finish_tag_{*this};
};

}  // namespace gdnplan::server
