// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/plan_watch.h"

#include <utility>

#include "gdnplan/plan/status.h"
#include "server/describe.h"
#include "server/out_of_memory.h"
#include "server/rpc/error_details.h"
#include "server/rpc/stream_host.h"

namespace gdnplan::server {

PlanWatch::PlanWatch(StreamHost& host, CompletionThread& acceptor)
    : RpcCall(acceptor), host_(host), acceptor_(acceptor), writer_(&context()) {
  host_.service().RequestWatchPlans(&context(), &request_, &writer_, &queue(), &acceptor.queue(),
                                    start_tag());
}

void PlanWatch::OnStart() {
  Post(host_, acceptor_);
  const absl::Status begun = CatchOutOfMemory([this] { return Begin(); });
  if (begun.ok()) return;
  host_.registry().recorder().Refused(begun, session_ == nullptr ? 0 : session_->number());
  MutexLock lock(mutex_);
  if (!std::exchange(ended_, true)) end_ = begun;
  writing_ = false;
  Schedule();
}

absl::Status PlanWatch::Begin() {
  GDNPLAN_RETURN_IF_ERROR(CheckToken(host_.tokens()));
  GDNPLAN_ASSIGN_OR_RETURN(session_, host_.registry().Find(request_.session_id()));
  if (request_.attachment_id() != 0) {
    GDNPLAN_RETURN_IF_ERROR(
        session_->leases().HoldAttached(request_.attachment_id(), Session::Clock::now()));
    holds_ = true;
  }
  {
    MutexLock lock(mutex_);
    kept_.resize(kMaxKept);
  }
  GDNPLAN_RETURN_IF_ERROR(host_.Add(*this));
  GDNPLAN_ASSIGN_OR_RETURN(const uint64_t last_plan_id, session_->Follow(*this));
  MutexLock lock(mutex_);
  // A plan may have been kept already, or the end: they are written after this.
  response_.set_last_plan_id(last_plan_id);
  BeginOperation();
  writer_.Write(response_, &write_tag_);
  return absl::OkStatus();
}

void PlanWatch::OnOver() {
  host_.Remove(*this);
  if (session_ != nullptr) session_->Unfollow(*this);
  if (holds_) {
    session_->leases().ReleaseAttached(request_.attachment_id(), /*lost=*/cancelled(),
                                       Session::Clock::now());
  }
  OnEnd(absl::CancelledError("the follower left"));
}

void PlanWatch::OnPlan(const PlanResult& result) {
  MutexLock lock(mutex_);
  if (ended_) return;
  if (size_ == kMaxKept) {
    first_ = (first_ + 1) % kMaxKept;
    --size_;
    ++num_missed_;
    host_.registry().recorder().FollowerMissed();
  }
  kept_[(first_ + size_) % kMaxKept] = result;
  ++size_;
  if (!writing_) Schedule();
}

void PlanWatch::OnEnd(const absl::Status& reason) {
  MutexLock lock(mutex_);
  if (ended_) return;
  ended_ = true;
  end_ = reason;
  if (!writing_) Schedule();
}

void PlanWatch::Schedule() {
  if (std::exchange(scheduled_, true)) return;
  BeginOperation();  // until Pump
  host_.announcer().Schedule(*this);
}

void PlanWatch::Pump() {
  {
    MutexLock lock(mutex_);
    scheduled_ = false;
    Write();
  }
  EndOperation();
}

void PlanWatch::OnWritten(bool ok) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
    if (!ok) size_ = 0;
    if (size_ > 0 || ended_) Schedule();
  }
  EndOperation();
}

void PlanWatch::Write() {
  if (writing_ || finished_) return;
  if (size_ > 0) {
    Describe(kept_[first_], *response_.mutable_plan());
    response_.set_num_missed(std::exchange(num_missed_, 0));
    response_.clear_last_plan_id();
    first_ = (first_ + 1) % kMaxKept;
    --size_;
    writing_ = true;
    BeginOperation();
    writer_.Write(response_, &write_tag_);
  } else if (ended_) {
    finished_ = true;
    BeginOperation();
    writer_.Finish(ToRpcStatus(end_), &finish_tag_);
  }
}

}  // namespace gdnplan::server
