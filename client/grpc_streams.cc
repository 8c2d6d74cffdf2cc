// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/grpc_streams.h"

#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

#include "client/call_events.h"
#include "client/forked_child.h"
#include "wire/grpc_status.h"

namespace gdnplan::client {
namespace {

using Operation = CallEvents::Operation;

// What gRPC may take to end a cancelled call.
constexpr std::chrono::seconds kEnding{1};
// What a server that is there takes to end a stream. Plans that wait for a slot may take longer,
// and are cancelled.
constexpr std::chrono::milliseconds kGoodbye{100};

// What both streams do. Io: gRPC's asynchronous reader, or reader and writer, of Messages.
template <typename Io, typename Message>
class GrpcCall {
 public:
  // start(context, queue): the generated stub's PrepareAsync...
  template <typename Start>
  GrpcCall(CallToken* token, bool poll, Start start)
      : events_(poll), io_(start(&context_, &events_.queue())) {
    if (token != nullptr) token->AddTo(context_);
    io_->StartCall(events_.Begin(Operation::kStart));
  }
  GrpcCall(const GrpcCall&) = delete;
  GrpcCall& operator=(const GrpcCall&) = delete;

  void Cancel() { context_.TryCancel(); }

  // Tells the server that no more requests come, and takes what it still says: an end in order. A
  // cancelled stream would count as a lost owner.
  void SayGoodbye() {
    const StreamDeadline deadline = DeadlineIn(kGoodbye);
    if (finishing_ || !events_.Await(Operation::kStart, deadline).value_or(false) ||
        !events_.Await(Operation::kWrite, deadline).value_or(false)) {
      return;
    }
    io_->WritesDone(events_.Begin(Operation::kWrite));
    while (Read(message_, deadline).ok()) {
    }
  }

  // Cancels. gRPC wants every operation awaited, and the status, too, before this object goes.
  // False: one is not over, and this must live on. It is one that sends while the server stands
  // still and its socket is full: that ends only with the connection.
  bool End() {
    context_.TryCancel();
    const StreamDeadline deadline = DeadlineIn(kEnding);
    for (const Operation operation : {Operation::kStart, Operation::kRead}) {
      if (!events_.Await(operation, deadline).has_value()) return false;
    }
    if (!finishing_) Finish().IgnoreError();
    return events_.Await(Operation::kWrite, deadline).has_value() &&
           events_.Await(Operation::kFinish, deadline).has_value();
  }

  template <typename Request>
  absl::Status Write(const Request& request, StreamDeadline deadline) {
    const std::optional<bool> started = events_.Await(Operation::kStart, deadline);
    const std::optional<bool> written = events_.Await(Operation::kWrite, deadline);
    const std::lock_guard lock(mutex_);
    if (!end_.ok()) return end_;
    if (!started.has_value() || !written.has_value()) {
      return absl::DeadlineExceededError("the server reads no further request yet");
    }
    // Only the reader can ask gRPC why it broke.
    if (finishing_ || !*started || !*written) return absl::OkStatus();
    io_->Write(request, events_.Begin(Operation::kWrite));
    return absl::OkStatus();
  }

  absl::Status Read(Message& message, StreamDeadline deadline) {
    if (finishing_) return end_;
    const std::optional<bool> started = events_.Await(Operation::kStart, deadline);
    if (started.has_value() && !*started) return Finish();
    if (started.has_value() && !reading_) {
      reading_ = true;
      io_->Read(&message_, events_.Begin(Operation::kRead));
    }
    const std::optional<bool> read =
        reading_ ? events_.Await(Operation::kRead, deadline) : std::nullopt;
    if (!read.has_value()) return absl::DeadlineExceededError("the server did not answer in time");
    reading_ = false;
    if (!*read) return Finish();
    std::swap(message, message_);
    return absl::OkStatus();
  }

 private:
  // The reader's, once, after its last read.
  absl::Status Finish() {
    {
      const std::lock_guard lock(mutex_);
      finishing_ = true;
    }
    io_->Finish(&status_, events_.Begin(Operation::kFinish));
    bool over = events_.Await(Operation::kFinish, DeadlineIn(kEnding)).has_value();
    if (!over) {
      // A message that cannot be read also ends the reading, though the server goes on.
      context_.TryCancel();
      over = events_.Await(Operation::kFinish, DeadlineIn(kEnding)).has_value();
    }
    absl::Status end = over ? wire::FromGrpc(status_) : absl::OkStatus();
    if (end.ok()) end = absl::UnavailableError("the server ended the stream");
    // To readers that would mean that an answer may still come.
    if (absl::IsDeadlineExceeded(end)) end = absl::UnavailableError(end.message());
    const std::lock_guard lock(mutex_);
    end_ = end;
    return end;
  }

  grpc::ClientContext context_;
  CallEvents events_;
  std::unique_ptr<Io> io_;
  Message message_;  // the reader's, as are the next two
  bool reading_ = false;
  grpc::Status status_;
  std::mutex mutex_;
  bool finishing_ = false;  // the reader writes these two, with the mutex: nothing is sent any more
  absl::Status end_;        // OK until it is known
};

// For ever: gRPC may still come back to it. Kept, so that tools that look for leaks see that it is
// meant.
template <typename Call>
void LeaveToGrpc(std::unique_ptr<Call> call) {
  static std::mutex mutex;
  static auto& calls = *new std::vector<std::unique_ptr<Call>>;
  const std::lock_guard lock(mutex);
  calls.push_back(std::move(call));
}

// Owns a call, unless this is a forked child: there it leaves the call alone, for the threads and
// the sockets are its parent's.
template <typename Call>
class OwnedCall {
 public:
  explicit OwnedCall(std::unique_ptr<Call> call) : call_(std::move(call)) {}
  ~OwnedCall() {
    if (getpid() != pid_) {
      static_cast<void>(call_.release());
    } else if (!call_->End()) {
      LeaveToGrpc(std::move(call_));
    }
  }
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;

  // FailedPrecondition in a forked child.
  absl::Status Check() const {
    if (getpid() == pid_) return absl::OkStatus();
    return StreamInForkedChild();
  }
  Call* operator->() const { return call_.get(); }

 private:
  std::unique_ptr<Call> call_;
  const pid_t pid_ = getpid();
};

using PlanCall =
    GrpcCall<grpc::ClientAsyncReaderWriterInterface<v1::PlanStreamRequest, v1::PlanStreamResponse>,
             v1::PlanStreamResponse>;
using WatchCall =
    GrpcCall<grpc::ClientAsyncReaderInterface<v1::WatchPlansResponse>, v1::WatchPlansResponse>;

class GrpcStream final : public StubStream {
 public:
  GrpcStream(v1::Planner::Stub& stub, CallToken* token, bool poll)
      : call_(std::make_unique<PlanCall>(token, poll, [&](auto* context, auto* queue) {
          return stub.PrepareAsyncPlanStream(context, queue);
        })) {}
  ~GrpcStream() override {
    if (call_.Check().ok()) call_->SayGoodbye();
  }

  absl::Status Write(const v1::PlanStreamRequest& request, StreamDeadline deadline) override {
    const absl::Status usable = call_.Check();
    return usable.ok() ? call_->Write(request, deadline) : usable;
  }
  absl::Status Read(v1::PlanStreamResponse& response, StreamDeadline deadline) override {
    const absl::Status usable = call_.Check();
    return usable.ok() ? call_->Read(response, deadline) : usable;
  }
  void Cancel() override {
    if (call_.Check().ok()) call_->Cancel();
  }

 private:
  OwnedCall<PlanCall> call_;
};

class GrpcWatch final : public StubWatch {
 public:
  GrpcWatch(v1::Planner::Stub& stub, CallToken* token, const v1::WatchPlansRequest& request,
            bool poll)
      : call_(std::make_unique<WatchCall>(token, poll, [&](auto* context, auto* queue) {
          return stub.PrepareAsyncWatchPlans(context, request, queue);
        })) {}

  absl::Status Read(v1::WatchPlansResponse& response, StreamDeadline deadline) override {
    const absl::Status usable = call_.Check();
    return usable.ok() ? call_->Read(response, deadline) : usable;
  }
  void Cancel() override {
    if (call_.Check().ok()) call_->Cancel();
  }

 private:
  OwnedCall<WatchCall> call_;
};

}  // namespace

std::unique_ptr<StubStream> MakeGrpcStream(v1::Planner::Stub& stub, CallToken* token, bool poll) {
  return std::make_unique<GrpcStream>(stub, token, poll);
}

std::unique_ptr<StubWatch> MakeGrpcWatch(v1::Planner::Stub& stub, CallToken* token,
                                         const v1::WatchPlansRequest& request, bool poll) {
  return std::make_unique<GrpcWatch>(stub, token, request, poll);
}

}  // namespace gdnplan::client
