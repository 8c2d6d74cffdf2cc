// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/plan_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/plan_stream_state.h"

namespace gdnplan::client {

PlanStream::PlanStream(std::unique_ptr<PlanStreamState> state) : state_(std::move(state)) {}
PlanStream::~PlanStream() = default;
PlanStream::PlanStream(PlanStream&&) noexcept = default;
PlanStream& PlanStream::operator=(PlanStream&&) noexcept = default;

absl::StatusOr<PlanView> PlanStream::Plan(const plan::BatchView& batch,
                                          const PlanOptions& options) {
  if (in_flight() > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(in_flight(), " plans are in flight: take their answers with Next first"));
  }
  const absl::Status submitted = state_->Submit(batch, options);
  if (!submitted.ok()) return submitted;
  return state_->NextOrEnd(options.deadline);
}

absl::Status PlanStream::Submit(const plan::BatchView& batch, const PlanOptions& options) {
  return state_->Submit(batch, options);
}

absl::StatusOr<PlanView> PlanStream::Next(std::optional<std::chrono::milliseconds> timeout) {
  return state_->Next(timeout);
}

int PlanStream::in_flight() const { return state_->in_flight(); }
absl::Status PlanStream::broken() const { return state_->broken(); }
void PlanStream::Cancel() { state_->Cancel(absl::CancelledError("the stream was cancelled")); }

}  // namespace gdnplan::client
