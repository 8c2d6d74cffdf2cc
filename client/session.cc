// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/session.h"

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/answer.h"
#include "client/describe.h"
#include "client/plan_stream_state.h"
#include "client/session_state.h"
#include "gdnplan/plan/status.h"
#include "wire/convert.h"

namespace gdnplan::client {
namespace {

// What a destructor may take.
constexpr std::chrono::milliseconds kCloseInDestructor{2'000};

CallContext Context(const SessionState& state,
                    const std::optional<std::chrono::milliseconds>& deadline = std::nullopt) {
  return {.deadline = deadline.value_or(state.options().call_deadline)};
}

// An owner ends the session, others their part in it.
absl::Status CloseOnServer(const SessionState& state, std::chrono::milliseconds deadline) {
  if (state.owner()) {
    v1::CloseSessionRequest request;
    request.set_session_id(state.info().session_id);
    return state.stub().CloseSession({.deadline = deadline}, request).status();
  }
  v1::DetachSessionRequest request;
  request.set_session_id(state.info().session_id);
  request.set_attachment_id(state.attachment_id());
  const auto response = state.stub().DetachSession({.deadline = deadline}, request);
  // It is gone already, or the server: in both cases nothing is left to let go of.
  if (absl::IsNotFound(response.status())) return absl::OkStatus();
  return response.status();
}

}  // namespace

Session::Session(std::shared_ptr<SessionState> state, size_t first_device)
    : state_(std::move(state)), first_device_(first_device) {}
Session::Session(Session&&) noexcept = default;

Session& Session::operator=(Session&& other) noexcept {
  const Session old(std::move(*this));  // closes what this one held
  state_ = std::move(other.state_);
  first_device_ = other.first_device_;
  return *this;
}

Session::~Session() {
  if (state_ == nullptr || !state_->BeginClose()) return;
  CloseOnServer(*state_, std::min(kCloseInDestructor, state_->options().call_deadline))
      .IgnoreError();
}

const SessionInfo& Session::info() const { return state_->info(); }
bool Session::owner() const { return state_->owner(); }

absl::StatusOr<PlanView> Session::Plan(const plan::BatchView& batch, const PlanOptions& options) {
  GDNPLAN_RETURN_IF_ERROR(state_->CheckOpen());
  v1::PlanRequest request;
  wire::ToProto(batch, *request.mutable_batch());
  request.set_session_id(id());
  request.set_completion(ToCompletion(options));
  request.set_consumption_promised(options.consumption_promised);
  const auto response = state_->stub().Plan(Context(*state_, options.deadline), request);
  if (!response.ok()) return state_->Explain(response.status());
  return ToView(state_, response->plan(), first_device_);
}

absl::StatusOr<PlanStream> Session::OpenStream(const StreamOptions& options) const {
  GDNPLAN_RETURN_IF_ERROR(state_->CheckOpen());
  if (options.max_in_flight < 1) {
    return plan::InvalidField("max_in_flight",
                              absl::StrCat("must be at least 1 (got ", options.max_in_flight, ")"));
  }
  GDNPLAN_ASSIGN_OR_RETURN(std::unique_ptr<StubStream> stream,
                           state_->stub().PlanStream(options.poll));
  return PlanStream(std::make_unique<PlanStreamState>(state_, std::move(stream), first_device_,
                                                      options.max_in_flight));
}

absl::StatusOr<PlanFollower> Session::Follow(const FollowOptions& options) const {
  GDNPLAN_RETURN_IF_ERROR(state_->CheckOpen());
  v1::WatchPlansRequest request;
  request.set_session_id(id());
  request.set_attachment_id(state_->attachment_id());
  GDNPLAN_ASSIGN_OR_RETURN(std::unique_ptr<StubWatch> watch,
                           state_->stub().WatchPlans(request, options.poll));
  PlanFollower follower(state_, std::move(watch), first_device_);
  GDNPLAN_RETURN_IF_ERROR(follower.Begin(state_->options().call_deadline));
  return follower;
}

absl::StatusOr<PlanView> Session::UpdateBlockTable(const PlanView& plan, int32_t group,
                                                   const plan::BlockTableView& table,
                                                   const PlanOptions& options) {
  GDNPLAN_RETURN_IF_ERROR(state_->CheckOpen());
  GDNPLAN_RETURN_IF_ERROR(CheckOwn(plan));
  v1::UpdateBlockTableRequest request;
  request.set_session_id(id());
  request.set_plan_id(plan.id());
  request.set_group(group);
  wire::ToProto(table, *request.mutable_block_table());
  request.set_completion(ToCompletion(options));
  const auto response =
      state_->stub().UpdateBlockTable(Context(*state_, options.deadline), request);
  if (!response.ok()) return state_->Explain(response.status());
  return ToView(state_, response->plan(), plan.device());
}

absl::StatusOr<PlanView> Session::View(PlanRecord record) const {
  GDNPLAN_RETURN_IF_ERROR(CheckPlan(info(), record));
  return state_->View(std::move(record), first_device_);
}

absl::Status Session::CheckOwn(const PlanView& plan) const {
  if (plan.state_ == state_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("plan ", plan.id(),
                   " was viewed through another Session; use View(plan.record()) of this "
                   "one"));
}

absl::Status Session::WaitReady(const PlanView& plan, std::chrono::nanoseconds timeout) const {
  using Clock = std::chrono::steady_clock;
  GDNPLAN_RETURN_IF_ERROR(CheckOwn(plan));
  GDNPLAN_ASSIGN_OR_RETURN(const auto arena, state_->Arena(plan.device()));
  const TimelineInfo& timeline = info().timeline;
  const uint64_t offset = timeline.ready_offset + plan.slot() * timeline.stride;
  const Clock::time_point start = Clock::now();
  // A fill takes microseconds: look often at first, then rarely, so that a long wait costs little.
  constexpr int kSpins = 1'000;
  constexpr std::chrono::microseconds kLongestSleep{500};
  std::chrono::microseconds sleep{10};
  for (int64_t i = 0;; ++i) {
    GDNPLAN_ASSIGN_OR_RETURN(const uint64_t ready, arena->LoadValue(offset));
    if (ready >= plan.timeline_value()) return absl::OkStatus();
    const auto waited = Clock::now() - start;
    if (waited >= timeout) {
      return absl::DeadlineExceededError(
          absl::StrCat("slot ", plan.slot(), ": ready is ", ready, " and must be at least ",
                       plan.timeline_value(), "; waited ",
                       std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(),
                       " ms; does the server still run and hold the session?"));
    }
    if (i < kSpins) continue;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(sleep, timeout - waited));
    sleep = std::min(sleep * 2, kLongestSleep);
  }
}

absl::Status Session::MarkConsumed(const PlanView& plan) const {
  GDNPLAN_RETURN_IF_ERROR(CheckOwn(plan));
  GDNPLAN_ASSIGN_OR_RETURN(const auto arena, state_->Arena(plan.device()));
  const TimelineInfo& timeline = info().timeline;
  return arena->RaiseValue(timeline.consumed_offset + plan.slot() * timeline.stride,
                           plan.timeline_value());
}

absl::Status Session::WaitReadyOn(CUstream_st* stream, const PlanView& plan) const {
  GDNPLAN_RETURN_IF_ERROR(CheckOwn(plan));
  GDNPLAN_ASSIGN_OR_RETURN(const auto arena, state_->Arena(plan.device()));
  const TimelineInfo& timeline = info().timeline;
  return arena->WaitOnStream(stream, timeline.ready_offset + plan.slot() * timeline.stride,
                             plan.timeline_value());
}

absl::Status Session::MarkConsumedOn(CUstream_st* stream, const PlanView& plan) const {
  GDNPLAN_RETURN_IF_ERROR(CheckOwn(plan));
  GDNPLAN_ASSIGN_OR_RETURN(const auto arena, state_->Arena(plan.device()));
  const TimelineInfo& timeline = info().timeline;
  const uint64_t slot = plan.slot() * timeline.stride;
  GDNPLAN_RETURN_IF_ERROR(
      arena->WriteOnStream(stream, timeline.consumed_offset + slot, plan.timeline_value()));
  // Only now that the write is bound to happen may the server's stream wait for it.
  if (!info().arenas[plan.device()].timeline_page.has_value()) return absl::OkStatus();
  return arena->RaiseValue(timeline.promised_offset + slot, plan.timeline_value());
}

absl::StatusOr<Lease> Session::Heartbeat(uint64_t consumption_promised) {
  GDNPLAN_RETURN_IF_ERROR(state_->CheckOpen());
  v1::HeartbeatRequest request;
  request.set_session_id(id());
  request.set_consumption_promised(consumption_promised);
  request.set_attachment_id(state_->attachment_id());
  const auto response = state_->stub().Heartbeat(Context(*state_), request);
  if (!response.ok()) return state_->Explain(response.status());
  return Lease{std::chrono::milliseconds(response->lease_ms()), response->last_plan_id()};
}

absl::Status Session::Close() {
  if (!state_->BeginClose()) return absl::OkStatus();
  return CloseOnServer(*state_, state_->options().call_deadline);
}

}  // namespace gdnplan::client
