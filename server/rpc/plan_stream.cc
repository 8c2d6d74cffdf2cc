// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/plan_stream.h"

#include <utility>

#include "gdnplan/plan/status.h"
#include "server/describe.h"
#include "server/out_of_memory.h"
#include "server/rpc/error_details.h"

namespace gdnplan::server {
namespace {

bool Deserialize(grpc::ByteBuffer& bytes, v1::PlanStreamRequest& message) {
  return grpc::SerializationTraits<v1::PlanStreamRequest>::Deserialize(&bytes, &message).ok();
}

void Serialize(const v1::PlanStreamResponse& message, grpc::ByteBuffer& bytes) {
  bytes.Clear();
  bool own = false;
  const grpc::Status status =
      grpc::SerializationTraits<v1::PlanStreamResponse>::Serialize(message, &bytes, &own);
  // It has no required field and is far below 2 GB.
  static_cast<void>(status);
}

}  // namespace

PlanStream::PlanStream(StreamHost& host, CompletionThread& acceptor)
    : RpcCall(host.ThreadForNextStream()), host_(host), acceptor_(acceptor), io_(&context()) {
  for (Item& item : items_) item.stream = this;
  host_.service().RequestPlanStream(&context(), &io_, &queue(), &acceptor.queue(), start_tag());
}

void PlanStream::OnStart() {
  // In this order, for the next one's thread depends on this one's.
  absl::Status added = CheckToken(host_.tokens());
  if (added.ok()) added = host_.Add(*this);
  if (!added.ok()) host_.registry().recorder().Refused(added);
  Post(host_, acceptor_);
  MutexLock lock(mutex_);
  if (!added.ok()) {
    end_ = added;
    no_more_requests_ = true;
  }
  Continue();
}

void PlanStream::OnOver() {
  host_.Remove(*this);
  if (session_ != nullptr) session_->leases().Release(/*lost=*/cancelled(), Session::Clock::now());
  MutexLock lock(mutex_);
  // Cancelled or sent: in both cases nothing is left to be told.
  no_more_requests_ = true;
  no_more_answers_ = true;
  Continue();
}

void PlanStream::Stop(const absl::Status& reason) {
  MutexLock lock(mutex_);
  no_more_requests_ = true;
  if (end_.ok()) end_ = reason;
  Continue();
}

void PlanStream::OnRead(bool ok) {
  Item* item = nullptr;
  {
    MutexLock lock(mutex_);
    reading_ = false;
    no_more_requests_ = no_more_requests_ || !ok;
    // A request that comes after the end is dropped, for its plan would never be answered.
    if (!no_more_requests_) {
      item = &ItemAt(next_++);
      item->answered = false;
    } else {
      Continue();
    }
  }
  if (item != nullptr) {
    // Before the next read, so that the answer is not kept waiting.
    Submit(*item);
    MutexLock lock(mutex_);
    Continue();
  }
  EndOperation();
}

void PlanStream::Refuse(const absl::Status& reason) {
  host_.registry().recorder().Refused(reason);
  Stop(reason);
  MutexLock lock(mutex_);
  --next_;
  Continue();
}

absl::Status PlanStream::TakeSession(const std::string& id) {
  if (session_ != nullptr) return absl::OkStatus();
  GDNPLAN_ASSIGN_OR_RETURN(session_, host_.registry().Find(id));
  session_->leases().Hold();
  return absl::OkStatus();
}

void PlanStream::Submit(Item& item) {
  const absl::Status parsed = CatchOutOfMemory([&] {
    if (Deserialize(item.request_bytes, item.request)) return absl::OkStatus();
    return absl::InvalidArgumentError("request: its bytes are no PlanStreamRequest");
  });
  // Whose tag it has, nobody knows.
  if (!parsed.ok()) return Refuse(parsed);
  const absl::Status found =
      CatchOutOfMemory([&] { return TakeSession(item.request.session_id()); });
  if (!found.ok()) {
    host_.registry().recorder().Refused(found);
    Stop(found);
    return Answer(item, found);
  }
  const absl::Status taken = CatchOutOfMemory([&] { return item.Take(item.request); });
  if (!taken.ok()) {
    host_.registry().recorder().Refused(taken, session_->number());
    return Answer(item, taken);
  }
  BeginOperation();  // until Done
  session_->Submit(item);
}

void PlanStream::Answer(Item& item, const absl::StatusOr<PlanResult>& result) {
  const absl::Status written = CatchOutOfMemory([&] {
    item.response.set_tag(item.request.tag());
    if (result.ok()) {
      Describe(*result, *item.response.mutable_plan());
    } else {
      v1::PlanError& error = *item.response.mutable_error();
      error.set_code(static_cast<int32_t>(result.status().code()));
      error.set_message(std::string(result.status().message()));
    }
    Serialize(item.response, item.response_bytes);
    return absl::OkStatus();
  });
  MutexLock lock(mutex_);
  item.answered = true;
  if (!written.ok()) {  // there is no other way to tell
    end_ = written;
    no_more_requests_ = no_more_answers_ = true;
  }
  Continue();
}

void PlanStream::OnWritten(bool ok) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
    ++first_;
    if (!ok) no_more_requests_ = no_more_answers_ = true;
    Continue();
  }
  EndOperation();
}

void PlanStream::Continue() {
  if (finished_) return;
  if (no_more_answers_ && !writing_) {
    while (first_ < next_ && ItemAt(first_).answered) ++first_;
  }
  if (!writing_ && first_ < next_ && ItemAt(first_).answered) {
    writing_ = true;
    BeginOperation();
    io_.Write(ItemAt(first_).response_bytes, &write_tag_);
  }
  if (!reading_ && !no_more_requests_ && next_ - first_ < host_.limits().max_plans_in_flight) {
    reading_ = true;
    BeginOperation();
    io_.Read(&ItemAt(next_).request_bytes, &read_tag_);
  }
  if (no_more_requests_ && first_ == next_ && !writing_) {
    finished_ = true;
    BeginOperation();
    io_.Finish(ToRpcStatus(end_), &finish_tag_);
  }
}

}  // namespace gdnplan::server
