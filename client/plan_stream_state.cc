// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/plan_stream_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/answer.h"
#include "gdnplan/plan/status.h"
#include "wire/convert.h"

namespace gdnplan::client {

PlanStreamState::~PlanStreamState() {
  stream_.reset();
  session_->keeper().SignSoon();
}

PlanStreamState::PlanStreamState(std::shared_ptr<SessionState> session,
                                 std::unique_ptr<StubStream> stream, size_t device,
                                 int max_in_flight)
    : session_(std::move(session)),
      stream_(std::move(stream)),
      device_(device),
      max_in_flight_(max_in_flight) {}

absl::Status PlanStreamState::Submit(const plan::BatchView& batch, const PlanOptions& options) {
  GDNPLAN_RETURN_IF_ERROR(session_->CheckOpen());
  // Before it is on its way, for its answer may come before this thread goes on.
  GDNPLAN_RETURN_IF_ERROR(Begin());
  if (last_tag_ == 0) request_.set_session_id(session_->info().session_id);
  request_.set_tag(last_tag_ + 1);
  wire::ToProto(batch, *request_.mutable_batch());
  request_.set_completion(ToCompletion(options));
  request_.set_consumption_promised(options.consumption_promised);
  const absl::Status written = stream_->Write(request_, DeadlineOf(options.deadline));
  if (!written.ok()) {
    const std::lock_guard lock(mutex_);
    in_flight_ = std::max(in_flight_ - 1, 0);  // the taker may have ended all
    if (broken_.ok()) broken_ = written;
    return broken_;
  }
  if (last_tag_++ == 0) request_.clear_session_id();
  return absl::OkStatus();
}

absl::StatusOr<PlanView> PlanStreamState::Take(const Timeout& timeout, Late late) {
  {
    const std::lock_guard lock(mutex_);
    if (in_flight_ == 0) {
      GDNPLAN_RETURN_IF_ERROR(broken_);
      return absl::FailedPreconditionError("no plan is in flight: Submit one first");
    }
  }
  const absl::Status read = stream_->Read(response_, DeadlineOf(timeout));
  if (absl::IsDeadlineExceeded(read)) {
    if (late == Late::kAskAgain) return read;
    stream_->Cancel();
    return End(absl::DeadlineExceededError(
        absl::StrCat(read.message(), "; the stream was cancelled, open another one")));
  }
  if (!read.ok()) return End(read);
  if (response_.tag() != ++last_taken_) {
    stream_->Cancel();
    return End(absl::InternalError(absl::StrCat("the server's answer is wrong: tag ",
                                                response_.tag(), " instead of ", last_taken_)));
  }
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
  }
  if (response_.has_error()) return session_->Explain(ToStatus(response_.error()));
  return ToView(session_, response_.plan(), device_);
}

int PlanStreamState::in_flight() const {
  const std::lock_guard lock(mutex_);
  return in_flight_;
}

absl::Status PlanStreamState::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void PlanStreamState::Cancel(const absl::Status& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_.ok()) broken_ = reason;
  }
  stream_->Cancel();
  // The server takes that for a lost owner.
  session_->keeper().SignSoon();
}

absl::Status PlanStreamState::Begin() {
  const std::lock_guard lock(mutex_);
  GDNPLAN_RETURN_IF_ERROR(broken_);
  if (in_flight_ >= max_in_flight_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "max_in_flight: ", max_in_flight_, " plans are in flight; take answers with Next first"));
  }
  ++in_flight_;
  return absl::OkStatus();
}

StreamDeadline PlanStreamState::DeadlineOf(const Timeout& timeout) const {
  return DeadlineIn(timeout.value_or(session_->options().call_deadline));
}

absl::Status PlanStreamState::End(const absl::Status& reason) {
  const absl::Status explained = session_->Explain(reason);
  const std::lock_guard lock(mutex_);
  in_flight_ = 0;
  if (broken_.ok()) broken_ = explained;
  return broken_;
}

}  // namespace gdnplan::client
