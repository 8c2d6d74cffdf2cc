// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/lane.h"

#include <algorithm>
#include <utility>

#include "gdnplan/plan/status.h"
#include "wire/start_thread.h"

namespace gdnplan::load {
namespace {

constexpr std::chrono::milliseconds kPause{100};
// A start that is later than this was delayed.
constexpr std::chrono::milliseconds kDelayed{1};
// The system wakes a sleeper this late; the rest is waited for awake.
constexpr std::chrono::microseconds kAwake{100};
// What was due before a window's end is still sent for so long: a thread that the system lets wait
// skips nothing.
constexpr std::chrono::milliseconds kLate{100};
// After so long without an answer the session itself is asked for.
constexpr std::chrono::milliseconds kQuiet{100};
// How long steps of a trace are made only to be counted.
constexpr std::chrono::seconds kCounting{1};

// Whether the session may be gone, and not just the batch refused.
bool TellsOfLoss(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kUnavailable:
      return true;
    default:
      return false;
  }
}

bool InHostMemory(const client::SessionInfo& info) {
  return std::all_of(info.arenas.begin(), info.arenas.end(), [](const client::ArenaInfo& arena) {
    return arena.device.kind == client::DeviceKind::kHost;
  });
}

const char* KindOf(const plan::PlanCounts& counts) {
  const bool decodes = counts.num_decodes + counts.num_spec_decodes > 0;
  if (counts.num_prefills > 0) return decodes ? "mixed" : "prefill";
  return counts.num_spec_decodes > 0 ? "spec decode" : "decode";
}

uint64_t BytesOf(const json::OwnedBatch& batch) {
  size_t elements = batch.query_start_loc.size() + batch.seq_lens.size() +
                    batch.num_decode_draft_tokens.size() + batch.num_accepted_tokens.size();
  for (const json::OwnedBlockTable& table : batch.block_tables) elements += table.block_ids.size();
  return elements * sizeof(int32_t) + batch.is_prefilling.size();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Lane>> Lane::Open(const LoadOptions& options, int number,
                                                 const client::Client& client, int in_flight) {
  GDNPLAN_ASSIGN_OR_RETURN(std::unique_ptr<StepSource> source,
                           options.source(number, options.usual));
  client::SessionOptions session_options;
  session_options.name = "gdnplan load";
  session_options.devices = options.devices;
  session_options.num_slots = in_flight;
  session_options.map_now = options.verify != Verify::kNone;
  GDNPLAN_ASSIGN_OR_RETURN(client::Session session,
                           client.OpenSession(source->config(), session_options));
  std::unique_ptr<Lane> lane(
      new Lane(options, number, std::move(session), std::move(source), in_flight));
  GDNPLAN_RETURN_IF_ERROR(lane->Start());
  if (options.transport == Transport::kStream) {
    GDNPLAN_ASSIGN_OR_RETURN(lane->stream_, lane->OpenStream());
  }
  return lane;
}

Lane::Lane(const LoadOptions& options, int number, client::Session session,
           std::unique_ptr<StepSource> source, int in_flight)
    : options_(options),
      session_(std::move(session)),
      source_(std::move(source)),
      in_host_memory_(InHostMemory(session_.info())),
      expected_(source_->config()),
      requests_(static_cast<size_t>(in_flight)),
      starts_(options, number) {}

absl::Status Lane::Start() {
  if (options_.pace == Pace::kClosed || options_.transport == Transport::kUnary) {
    return Run(&Lane::RunAlone);
  }
  GDNPLAN_RETURN_IF_ERROR(Run(&Lane::RunSender));
  return Run(&Lane::RunTaker);
}

absl::Status Lane::Run(void (Lane::*work)()) {
  GDNPLAN_ASSIGN_OR_RETURN(threads_.emplace_back(),
                           wire::StartThread([this, work] { (this->*work)(); }));
  return absl::OkStatus();
}

Lane::~Lane() { Stop(); }

void Lane::Begin(Window window) {
  {
    const std::lock_guard lock(mutex_);
    last_plan_ = last_taken_ = window.begin;
    window_ = std::move(window);
    window_open_ = true;
    finished_ = false;
    plans_ = errors_ = 0;
  }
  changed_.notify_all();
}

void Lane::EndAt(Clock::time_point end) {
  {
    const std::lock_guard lock(mutex_);
    window_.end = std::min(window_.end, end);
  }
  changed_.notify_all();
}

Lane::State Lane::state() const {
  const std::lock_guard lock(mutex_);
  State state{.at_rest = !window_open_ && sent_ == taken_,
              .finished = finished_,
              .over = over_,
              .plans = plans_,
              .last_plan = last_plan_,
              .last_taken = last_taken_,
              .lost = lost_,
              .trouble = {}};
  if (lost_) {
    state.trouble = trouble_;
  } else if (plans_ == 0 && errors_ > 0) {
    state.trouble = {window_.begin, trouble_.call, trouble_.reason};
  }
  return state;
}

void Lane::BeginStop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

void Lane::Stop() {
  BeginStop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  stream_.reset();
  if (state().lost) return;  // the session's destructor tries, and soon gives up
  const Clock::time_point start = Clock::now();
  const absl::Status closed = session_.Close();
  const std::lock_guard lock(mutex_);
  if (!closed.ok() && !lost_) Lose("CloseSession", closed, start);
}

bool Lane::Look() {
  const Clock::time_point start = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (lost_) return false;
    if (stop_ || sent_ != taken_ || start - last_taken_ < kQuiet) return true;
  }
  const absl::Status sign = session_.Heartbeat().status();
  // A server that stands still may go on, and then nothing is lost.
  if (!TellsOfLoss(sign) || absl::IsDeadlineExceeded(sign)) return true;
  const std::lock_guard lock(mutex_);
  if (last_taken_ < start) Lose("Heartbeat", sign, start);
  return !lost_;
}

bool Lane::Past() const {
  const Clock::duration late = options_.pace == Pace::kClosed ? Clock::duration(0) : kLate;
  return stop_ || Clock::now() >= window_.end + late;
}

bool Lane::past() const {
  const std::lock_guard lock(mutex_);
  return Past();
}

uint64_t Lane::under_way() const {
  const std::lock_guard lock(mutex_);
  return sent_ - taken_;
}

void Lane::RunAlone() {
  while (AwaitWindow()) {
    bool more = true;
    while (more || under_way() > 0) {
      while (more && under_way() < requests_.size() && !broken_) more = SendNext();
      if (broken_) {
        Reopen();
      } else if (under_way() > 0) {
        TakeNext();
      }
      more = more && !past();
    }
    EndWindow();
  }
}

void Lane::RunSender() {
  while (AwaitWindow()) {
    bool more = true;
    while (more && AwaitRoom()) {
      more = SendNext();
      {
        const std::lock_guard lock(mutex_);
        sending_ = false;
      }
      changed_.notify_all();
    }
    EndWindow();
  }
  {
    const std::lock_guard lock(mutex_);
    sender_ended_ = true;
  }
  changed_.notify_all();
}

void Lane::RunTaker() {
  while (true) {
    bool reopen = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] {
        return sent_ > taken_ || (broken_ && !sending_ && window_open_) || sender_ended_;
      });
      if (sent_ == taken_ && sender_ended_) return;
      reopen = broken_ && !sending_;
    }
    if (reopen) {
      Reopen();
    } else {
      TakeNext();
    }
  }
}

bool Lane::AwaitWindow() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return window_open_ || stop_; });
  if (stop_) return window_open_ = false;
  starts_.Begin(window_.begin);
  return true;
}

bool Lane::AwaitRoom() {
  const auto room = [this] { return sent_ - taken_ < requests_.size() && !broken_; };
  std::unique_lock lock(mutex_);
  while (!room() && !Past()) changed_.wait_until(lock, window_.end + kLate);
  sending_ = room() && !stop_;
  return sending_;
}

bool Lane::SendNext() {
  if (!Prepare()) {
    Finish(/*workload_over=*/true);
    return false;
  }
  // Only the sender changes sent_.
  Request& request = requests_[sent_ % requests_.size()];
  const std::optional<Clock::time_point> intended = starts_.Next(request.step.due_s);
  if (!AwaitStart(intended)) return false;
  if (window_.budget->Take(1) == 0) {
    Finish(/*workload_over=*/false);
    return false;
  }
  starts_.Take();
  prepared_ = false;
  request.start = Clock::now();
  request.intended = intended.value_or(request.start);
  request.verify = options_.verify == Verify::kAll ||
                   (options_.verify == Verify::kSample &&
                    sent_ % static_cast<uint64_t>(options_.sample_every) == 0);
  absl::Status sent;
  if (stream_.has_value()) {
    // Where the CPU cannot wait for `ready`, the answer does.
    sent = stream_->Submit(
        request.step.batch.view(),
        {.wait_complete = request.verify && !in_host_memory_, .deadline = options_.deadline});
  }
  if (!sent.ok()) AddError(sent, request.start, /*lost=*/true);
  {
    const std::lock_guard lock(mutex_);
    if (sent.ok()) ++sent_;
    broken_ = broken_ || !sent.ok();
  }
  changed_.notify_all();
  return true;
}

bool Lane::Prepare() {
  if (!prepared_) prepared_ = source_->Next(requests_[sent_ % requests_.size()].step);
  return prepared_;
}

bool Lane::AwaitStart(std::optional<Clock::time_point> intended) {
  const Clock::time_point time = intended.value_or(Clock::now());
  {
    std::unique_lock lock(mutex_);
    const auto none = [&] { return stop_ || time >= window_.end; };
    changed_.wait_until(lock, time - kAwake, none);
    if (none() || Past()) return false;
  }
  while (Clock::now() < time) {
  }
  return true;
}

void Lane::Finish(bool workload_over) {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  over_ = over_ || workload_over;
}

void Lane::EndWindow() {
  Window window;
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    window = window_;
    finished = finished_ || stop_;
  }
  const Clock::time_point end = finished ? Clock::now() : window.end;
  uint64_t skipped = 0;
  if (options_.pace == Pace::kTrace && !finished) skipped = SkipSteps(end);
  skipped += starts_.End(end);
  // With a budget spent, or a workload over, no more were meant to be made.
  if (!finished && skipped > 0) {
    skipped = window.budget->Take(skipped);
    recorder_.Record([skipped](Sample& sample) { sample.skipped += skipped; });
  }
  {
    const std::lock_guard lock(mutex_);
    window_open_ = false;
  }
  changed_.notify_all();
}

// Bounded, for a trace's steps may be due faster than they are made.
uint64_t Lane::SkipSteps(Clock::time_point end) {
  const Clock::time_point give_up = Clock::now() + kCounting;
  uint64_t steps = 0;
  while (Clock::now() < give_up && Prepare()) {
    const Request& next = requests_[sent_ % requests_.size()];
    if (*starts_.Next(next.step.due_s) >= end) break;
    prepared_ = false;
    ++steps;
  }
  return steps;
}

void Lane::TakeNext() {
  const Request& request = requests_[taken_ % requests_.size()];
  const absl::StatusOr<client::PlanView> plan = NextAnswer(request);
  const Clock::time_point answered = Clock::now();
  const absl::Status result = plan.ok() ? Record(request, *plan, answered) : plan.status();
  bool lost = false;
  if (!plan.ok()) {
    // An answer that comes later would be taken for the next request's.
    if (stream_.has_value() && absl::IsDeadlineExceeded(result)) stream_->Cancel();
    lost = stream_.has_value() ? !stream_->broken().ok() : TellsOfLoss(result);
  }
  if (!result.ok()) AddError(result, request.start, lost);
  {
    const std::lock_guard lock(mutex_);
    broken_ = broken_ || (lost && stream_.has_value());
    if (result.ok()) {
      ++plans_;
      lost_ = false;
      last_plan_ = last_taken_ = answered;
    }
  }
  Taken(1);
  if (lost && !stream_.has_value()) Pause();
}

absl::StatusOr<client::PlanView> Lane::NextAnswer(const Request& request) {
  if (stream_.has_value()) return stream_->Next(options_.deadline);
  return session_.Plan(
      request.step.batch.view(),
      {.wait_complete = request.verify && !in_host_memory_, .deadline = options_.deadline});
}

void Lane::Taken(uint64_t requests) {
  {
    const std::lock_guard lock(mutex_);
    taken_ += requests;
  }
  changed_.notify_all();
}

void Lane::Reopen() {
  absl::Status reason = stream_->broken();
  {
    const std::lock_guard lock(mutex_);
    if (lost_) reason = trouble_.reason;  // the first that failed knows best
  }
  const uint64_t lost = under_way();
  for (uint64_t i = 0; i < lost; ++i) {
    AddError(reason, requests_[(taken_ + i) % requests_.size()].start, /*lost=*/true);
  }
  Taken(lost);
  Pause();
  if (past()) return;
  absl::StatusOr<client::PlanStream> stream = OpenStream();
  const std::lock_guard lock(mutex_);
  if (stream.ok()) {
    stream_ = *std::move(stream);
    broken_ = false;
    changed_.notify_all();
  } else {
    Lose(call(), stream.status(), Clock::now());
  }
}

absl::StatusOr<client::PlanStream> Lane::OpenStream() const {
  return session_.OpenStream(
      {.poll = options_.poll, .max_in_flight = static_cast<int>(requests_.size())});
}

void Lane::Pause() {
  std::unique_lock lock(mutex_);
  const Clock::time_point end = std::min(Clock::now() + kPause, window_.end);
  changed_.wait_until(lock, end, [this] { return Past(); });
}

void Lane::AddError(const absl::Status& error, Clock::time_point start, bool lost) {
  recorder_.AddError(error);
  const std::lock_guard lock(mutex_);
  ++errors_;
  last_taken_ = Clock::now();
  if (lost) {
    Lose(call(), error, start);
  } else {
    lost_ = false;
    trouble_.call = call();
    trouble_.reason = error;
  }
}

void Lane::Lose(const char* call, const absl::Status& reason, Clock::time_point since) {
  if (!lost_) trouble_.since = since;
  trouble_.call = call;
  trouble_.reason = reason;
  lost_ = true;
}

const char* Lane::call() const {
  return options_.transport == Transport::kStream ? "PlanStream" : "Plan";
}

absl::Status Lane::Record(const Request& request, const client::PlanView& plan,
                          Clock::time_point answered) {
  std::optional<std::vector<std::string>> mismatches;  // nothing: not compared
  if (request.verify) {
    GDNPLAN_ASSIGN_OR_RETURN(mismatches, expected_.Compare(request.step.batch.view(), plan));
  }
  // An answer that had to wait for the device is not like the others.
  const bool measured = in_host_memory_ || !request.verify;
  const auto since = [answered](Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(answered - time).count();
  };
  // At once, so that whoever takes the sample has a plan with what is known of it or not at all.
  recorder_.Record([&](Sample& sample) {
    ++sample.plans;
    ++sample.plans_by_kind[KindOf(plan.counts())];
    sample.request_bytes += BytesOf(request.step.batch);
    sample.plan_bytes += ExpectedPlan::Bytes(plan, source_->config().num_groups());
    if (request.start - request.intended > kDelayed) ++sample.delayed;
    if (mismatches.has_value()) ++sample.verified;
    if (mismatches.has_value() && !mismatches->empty()) ++sample.mismatches;
    if (!measured) return;
    sample.latency.Record(since(request.intended));
    sample.service.Record(since(request.start));
    sample.server.Record(plan.record().server_time.count());
  });
  if (mismatches.has_value() && !mismatches->empty() && options_.on_mismatch) {
    options_.on_mismatch(source_->config(), request.step.batch, *mismatches);
  }
  return absl::OkStatus();
}

}  // namespace gdnplan::load
