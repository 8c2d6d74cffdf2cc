// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/health_watch.h"

#include "server/rpc/error_details.h"

namespace gdnplan::server {

HealthWatch::HealthWatch(HealthService& health, CompletionThread& thread)
    : RpcCall(thread), health_(health), writer_(&context()) {
  health_.service_.RequestWatch(&context(), &request_, &writer_, &queue(), &queue(), start_tag());
}

void HealthWatch::OnStart() {
  Post(health_, thread());
  const absl::Status added = health_.Add(*this);
  if (!added.ok()) End(added);
}

void HealthWatch::OnOver() {
  health_.Remove(*this);
  End(absl::CancelledError("the watcher left"));
}

void HealthWatch::Tell(HealthService::Status status) {
  MutexLock lock(mutex_);
  next_ = status;
  Continue();
}

void HealthWatch::End(const absl::Status& reason) {
  MutexLock lock(mutex_);
  if (!end_.has_value()) end_ = reason;
  Continue();
}

void HealthWatch::OnWritten(bool /*ok*/) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
    Continue();
  }
  EndOperation();
}

void HealthWatch::Continue() {
  if (writing_ || finished_) return;
  if (end_.has_value()) {
    finished_ = true;
    BeginOperation();
    writer_.Finish(ToRpcStatus(*end_), &finish_tag_);
  } else if (next_.has_value()) {
    grpc::health::v1::HealthCheckResponse response;
    response.set_status(*next_);
    next_.reset();
    writing_ = true;
    BeginOperation();
    writer_.Write(response, &write_tag_);
  }
}

}  // namespace gdnplan::server
