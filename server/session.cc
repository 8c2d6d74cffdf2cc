// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "gdnplan/plan/validate.h"
#include "server/out_of_memory.h"

namespace gdnplan::server {
namespace {

// A device that is idle is done within this; handing over to the poller would take longer.
constexpr std::chrono::microseconds kSpin{20};
// No fill takes this long: the device hangs.
constexpr std::chrono::seconds kFinishTimeout{10};

}  // namespace

Session::Session(SessionIdentity identity, SessionOptions options, const plan::ArenaLayout& layout,
                 SessionPoller& poller, FatalError& fatal)
    : identity_(std::move(identity)),
      options_(std::move(options)),
      layout_(layout),
      leases_(options_.lease, opened_),
      poller_(poller),
      fatal_(fatal) {}

absl::StatusOr<std::shared_ptr<Session>> Session::Create(SessionIdentity identity,
                                                         SessionOptions options,
                                                         const Devices& devices,
                                                         SessionPoller& poller, FatalError& fatal) {
  GDNPLAN_RETURN_IF_ERROR(plan::ValidateConfig(options.config));
  GDNPLAN_ASSIGN_OR_RETURN(const plan::ArenaLayout layout,
                           plan::ArenaLayout::Create(options.config, options.num_slots));
  return CatchOutOfMemory([&]() -> absl::StatusOr<std::shared_ptr<Session>> {
    const std::shared_ptr<Session> session(
        new Session(std::move(identity), std::move(options), layout, poller, fatal));
    const absl::Status added = session->AddArenas(devices);
    if (added.ok()) return session;
    fatal.Note(added);
    return added;
  });
}

absl::Status Session::AddArenas(const Devices& devices) {
  devices_ = devices;
  std::vector<SessionArena> arenas;
  for (const std::shared_ptr<Device>& device : devices) {
    GDNPLAN_ASSIGN_OR_RETURN(
        std::unique_ptr<DeviceArena> memory,
        device->CreateArena({.config = options_.config,
                             .layout = layout_,
                             .timeline = options_.timeline,
                             .first = arenas.empty() ? nullptr : arenas.front().memory.get()}));
    arenas_.push_back({.device = device->info(),
                       .handle = memory->handle(),
                       .timeline_handle = memory->timeline_handle(),
                       .generation = memory->generation()});
    arenas.push_back({arenas_.back().device.id, std::move(memory), device->fills()});
  }
  MutexLock lock(mutex_);
  try {
    ring_ =
        std::make_unique<SlotRing>(options_.config, layout_, options_.guarded, std::move(arenas));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat("the server's own memory does not hold the ",
                                                     layout_.num_slots,
                                                     " slots' planners; ask for smaller limits"));
  }
  return absl::OkStatus();
}

void Session::Submit(SessionCall& call) {
  call.start_ = Clock::now();
  call.begun_ = call.enqueued_ = {};
  leases_.Renew(call.start_);
  CallList done;
  std::unique_ptr<SlotRing> ended;
  bool watch = false;
  {
    MutexLock lock(mutex_);
    try {
      Admit(call, done);
    } catch (const std::bad_alloc&) {
      // Only what comes before the call is answered, or waits, takes memory.
      Answer(call, OutOfMemory(), done);
    }
    ended = TakeEndedRing(call.start_);
    if (!watched_ && Waits()) watched_ = watch = true;
  }
  if (watch) Watch(done);
  done.AnswerAll();
}

void Session::Watch(CallList& done) {
  try {
    poller_.Watch(shared_from_this());
  } catch (const std::bad_alloc&) {
    MutexLock lock(mutex_);
    watched_ = false;
    // Nobody would look after them.
    while (!waiting_.empty()) Answer(waiting_.Pop(), OutOfMemory(), done);
    while (!finishing_.empty()) Answer(finishing_.Pop(), OutOfMemory(), done);
  }
}

void Session::Admit(SessionCall& call, CallList& done) {
  if (!end_.ok()) {
    Answer(call, end_, done);
    return;
  }
  if (call.consumption_promised > 0) ring_->Promise(call.consumption_promised);
  if (call.Abandoned()) {
    Answer(call, absl::CancelledError("the caller gave up"), done);
    return;
  }
  if (CanExecute(call)) {
    Execute(call, done);
  } else {
    Enqueue(call, done);
  }
}

absl::Status Session::SlotBusy(std::string_view why) const {
  return plan::RetryAfter(
      absl::ResourceExhaustedError(absl::StrCat("slot busy: ", plan::ToAbsl(why))),
      options_.slot_wait);
}

bool Session::CanExecute(const SessionCall& call) const {
  if (std::holds_alternative<UpdateInput>(call.input)) return ring_->CanUpdate();
  return waiting_.empty() && ring_->NextSlotFree();
}

void Session::Enqueue(SessionCall& call, CallList& done) {
  // Whoever waits shall not wait for a refusal.
  if (const auto* batch = std::get_if<plan::BatchView>(&call.input)) {
    absl::Status valid = plan::ValidateBatch(options_.config, *batch);
    if (!valid.ok()) return Answer(call, std::move(valid), done);
  }
  if (waiting_.size() >= kMaxWaiting) {
    return Answer(
        call,
        SlotBusy(absl::StrCat(
            kMaxWaiting, " requests of this session wait already; ask for the next one later")),
        done);
  }
  call.deadline_ = call.start_ + options_.slot_wait;
  waiting_.Push(call);
}

void Session::Execute(SessionCall& call, CallList& done) {
  const auto* batch = std::get_if<plan::BatchView>(&call.input);
  const auto* update = std::get_if<UpdateInput>(&call.input);
  call.begun_ = Clock::now();
  absl::StatusOr<PlanResult> result = OutOfMemory();
  try {
    result = batch != nullptr ? ring_->Plan(*batch)
                              : ring_->Update(update->plan_id, update->group, update->table);
  } catch (const std::bad_alloc&) {
    // It came before the first write.
  }
  call.enqueued_ = Clock::now();
  if (result.ok()) {
    for (PlanFollower* follower : followers_) follower->OnPlan(*result);
  }
  counts_.num_plans = ring_->num_plans();
  counts_.last_plan_id = ring_->last_plan_id();
  if (ring_->failed()) {
    const absl::Status failure = result.status();
    Answer(call, std::move(result), done);
    return EndAfterFailure(failure, done);
  }
  if (!result.ok() || result->complete || call.completion == Completion::kEnqueued) {
    return Answer(call, std::move(result), done);
  }
  call.result_ = std::move(result);
  call.deadline_ = call.start_ + kFinishTimeout;
  finishing_.Push(call);
  const Clock::time_point spin_end = Clock::now() + kSpin;
  for (Clock::time_point now = Clock::now(); now < spin_end && !finishing_.empty();
       now = Clock::now()) {
    AdvanceFinishing(now, done);
  }
}

Session::Progress Session::Advance(Clock::time_point now) {
  CallList done;
  std::unique_ptr<SlotRing> ended;
  Progress progress;
  {
    MutexLock lock(mutex_);
    const bool enqueued = AdvanceDeferred(done);
    AdvanceFinishing(now, done);
    AdvanceWaiting(now, done);
    ended = TakeEndedRing(now);
    progress = {.made = enqueued || !done.empty(),
                .waiting = Waits(),
                .deferred = ring_ != nullptr && ring_->HasDeferred()};
    watched_ = progress.waiting;
  }
  done.AnswerAll();
  return progress;
}

bool Session::Waits() const {
  return !waiting_.empty() || !finishing_.empty() ||
         (ring_ != nullptr && !ring_->failed() && ring_->HasDeferred());
}

bool Session::AdvanceDeferred(CallList& done) {
  if (ring_ == nullptr || ring_->failed()) return false;
  const absl::StatusOr<bool> advanced = ring_->Advance();
  if (!advanced.ok()) EndAfterFailure(advanced.status(), done);
  return advanced.ok() && *advanced;
}

void Session::AdvanceWaiting(Clock::time_point now, CallList& done) {
  CallList calls = std::exchange(waiting_, {});
  while (!calls.empty()) {
    SessionCall& call = calls.Pop();
    if (!end_.ok()) {
      Answer(call, end_, done);
    } else if (call.Abandoned()) {
      Answer(call, absl::CancelledError("the caller gave up"), done);
    } else if (CanExecute(call)) {
      Execute(call, done);
    } else if (now < call.deadline_) {
      waiting_.Push(call);
    } else if (const absl::Status failure = ring_->CheckBusy(); !failure.ok()) {
      // Nobody consumes a plan that did not arrive.
      Answer(call, failure, done);
      EndAfterFailure(failure, done);
    } else {
      const auto busy = [this, ring = ring_.get()] {
        return SlotBusy(absl::StrCat(
            ring->DescribeBusy(), " within slot_wait_ms ", options_.slot_wait.count(),
            "; consume the plan, or open the session with more num_slots or slot_wait_ms"));
      };
      Answer(call, CatchOutOfMemory(busy), done);
    }
  }
}

void Session::AdvanceFinishing(Clock::time_point now, CallList& done) {
  CallList calls = std::exchange(finishing_, {});
  while (!calls.empty()) {
    SessionCall& call = calls.Pop();
    if (ring_->failed()) {
      Answer(call, end_, done);
      continue;
    }
    const absl::StatusOr<bool> ready =
        ring_->IsReady(call.result_->slot, call.result_->timeline_value);
    if (!ready.ok()) {
      Answer(call, ready.status(), done);
      EndAfterFailure(ready.status(), done);
    } else if (*ready) {
      call.result_->complete = true;
      Answer(call, std::move(call.result_), done);
    } else if (call.Abandoned()) {
      Answer(call, absl::CancelledError("the caller gave up"), done);
    } else if (now < call.deadline_) {
      finishing_.Push(call);
    } else {
      const absl::Status late = CatchOutOfMemory([&] {
        return absl::DeadlineExceededError(absl::StrCat(
            "plan ", call.result_->plan_id, ": its bytes were not there after ",
            kFinishTimeout.count(), " s; the device hangs, or waits for the slot's consumer"));
      });
      Answer(call, late, done);
    }
  }
}

void Session::Close(const absl::Status& reason) {
  CallList done;
  std::unique_ptr<SlotRing> ended;
  {
    MutexLock lock(mutex_);
    End(reason, done);
    ended = TakeEndedRing(Clock::now());
  }
  done.AnswerAll();
}

bool Session::FreeMemory(Clock::time_point now, bool at_once) {
  std::unique_ptr<SlotRing> ended;
  {
    MutexLock lock(mutex_);
    if (at_once) ended_at_ = Clock::time_point::min();
    ended = TakeEndedRing(now);
    if (ended == nullptr) return ring_ == nullptr;
  }
  return true;
}

absl::StatusOr<uint64_t> Session::Follow(PlanFollower& follower) {
  MutexLock lock(mutex_);
  if (!end_.ok()) return end_;
  if (followers_.size() >= options_.max_followers) {
    return absl::ResourceExhaustedError(absl::StrCat("followers: ", followers_.size(),
                                                     " follow this session already, which is the ",
                                                     "limit; end one"));
  }
  try {
    followers_.push_back(&follower);
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
  return counts_.last_plan_id;
}

void Session::Unfollow(PlanFollower& follower) {
  MutexLock lock(mutex_);
  std::erase(followers_, &follower);
}

absl::Status Session::ReleaseConsumers(const std::vector<std::string>& device_ids) {
  MutexLock lock(mutex_);
  GDNPLAN_RETURN_IF_ERROR(end_);
  GDNPLAN_RETURN_IF_ERROR(ring_->CheckDevices(device_ids));
  for (const std::string& id : device_ids) ring_->ReleaseConsumer(id);
  return absl::OkStatus();
}

void Session::Promise(uint64_t timeline_value) {
  MutexLock lock(mutex_);
  if (ring_ != nullptr) ring_->Promise(timeline_value);
}

void Session::EndAfterFailure(const absl::Status& failure, CallList& done) {
  fatal_.Note(failure);
  if (options_.recorder != nullptr) options_.recorder->DeviceFailed();
  const absl::Status reason = CatchOutOfMemory([&] {
    return absl::FailedPreconditionError(absl::StrCat("session: a device failed and ended it (",
                                                      failure.message(),
                                                      "); close it and open a new one"));
  });
  End(reason, done);
}

void Session::End(const absl::Status& reason, CallList& done) {
  if (end_.ok()) {
    end_ = reason;
    ended_at_ = Clock::now();
  }
  while (!waiting_.empty()) Answer(waiting_.Pop(), end_, done);
  for (PlanFollower* follower : std::exchange(followers_, {})) follower->OnEnd(end_);
  if (ring_ == nullptr || !ring_->failed()) return;
  while (!finishing_.empty()) Answer(finishing_.Pop(), end_, done);
}

void Session::Answer(SessionCall& call, absl::StatusOr<PlanResult> result, CallList& done) {
  last_used_ = Clock::now();
  if (result.ok()) {
    const std::chrono::nanoseconds spent = last_used_ - call.start_;
    result->server_time_ns = static_cast<uint64_t>(spent.count());
  } else {
    ++counts_.num_refused;
  }
  if (options_.recorder != nullptr) Record(call, result);
  call.result_ = std::move(result);
  done.Push(call);
}

void Session::Record(const SessionCall& call, const absl::StatusOr<PlanResult>& result) const {
  CallRecord record{
      .kind = std::holds_alternative<UpdateInput>(call.input) ? CallKind::kUpdate : CallKind::kPlan,
      .code = result.status().code(),
      .session = identity_.number,
      .times = {.received = call.received,
                .submitted = call.start_,
                .begun = call.begun_,
                .enqueued = call.enqueued_,
                .answered = last_used_}};
  if (result.ok()) {
    record.plan_id = result->plan_id;
    record.slot = result->slot;
    record.counts = result->counts;
  } else {
    options_.recorder->Refused(result.status(), identity_.number);
  }
  options_.recorder->Record(record);
}

std::unique_ptr<SlotRing> Session::TakeEndedRing(Clock::time_point now) {
  if (end_.ok() || !finishing_.empty()) return nullptr;
  // What becomes of memory that another process has mapped when it is freed, CUDA does not say.
  if (now - options_.lease.grace < ended_at_ && leases_.CountAttached(now) > 0) return nullptr;
  return std::move(ring_);
}

SessionStatistics Session::statistics() const {
  const Clock::time_point now = Clock::now();
  MutexLock lock(mutex_);
  SessionStatistics statistics = counts_;
  statistics.age = now - opened_;
  statistics.idle = std::max(now, last_used_) - last_used_;
  return statistics;
}

}  // namespace gdnplan::server
