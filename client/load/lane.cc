// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/lane.h"

#include <algorithm>
#include <utility>

#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

constexpr std::chrono::seconds kDeadline{30};
constexpr std::chrono::milliseconds kReopenPause{100};
// A start that is later than this was delayed.
constexpr std::chrono::milliseconds kDelayed{1};
// The system wakes a sleeper this late; the rest is waited for awake.
constexpr std::chrono::microseconds kAwake{100};

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
  GDNPLAN_ASSIGN_OR_RETURN(std::unique_ptr<StepSource> source, options.source(number));
  client::SessionOptions session_options;
  session_options.name = "gdnplan load";
  session_options.devices = options.devices;
  session_options.num_slots = in_flight;
  session_options.map_now = options.verify != Verify::kNone;
  GDNPLAN_ASSIGN_OR_RETURN(client::Session session,
                           client.OpenSession(source->config(), session_options));
  std::unique_ptr<Lane> lane(
      new Lane(options, number, std::move(session), std::move(source), in_flight));
  if (options.transport == Transport::kStream) {
    GDNPLAN_ASSIGN_OR_RETURN(lane->stream_, lane->session_.OpenStream({.poll = options.poll}));
  }
  return lane;
}

Lane::Lane(const LoadOptions& options, int number, client::Session session,
           std::unique_ptr<StepSource> source, int in_flight)
    : options_(options),
      number_(number),
      session_(std::move(session)),
      source_(std::move(source)),
      in_host_memory_(InHostMemory(session_.info())),
      expected_(source_->config()),
      requests_(static_cast<size_t>(in_flight)) {}

Lane::~Lane() { Stop().IgnoreError(); }

void Lane::Start(Clock::time_point begin) {
  starts_.emplace(options_, number_, begin);
  if (options_.pace == Pace::kClosed || !stream_.has_value()) {
    threads_.emplace_back([this] { RunAlone(); });
  } else {
    threads_.emplace_back([this] { RunSender(); });
    threads_.emplace_back([this] { RunTaker(); });
  }
}

void Lane::BeginStop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

absl::Status Lane::Stop() {
  BeginStop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  stream_.reset();
  return session_.Close();
}

bool Lane::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

uint64_t Lane::under_way() const {
  const std::lock_guard lock(mutex_);
  return sent_ - taken_;
}

void Lane::RunAlone() {
  bool more = true;
  while (more || under_way() > 0) {
    while (more && under_way() < requests_.size() && !broken_) more = SendNext();
    if (broken_) {
      Reopen();
    } else if (under_way() > 0) {
      TakeNext();
    }
    more = more && !stopping();
  }
  over_ = true;
}

void Lane::RunSender() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock,
                    [this] { return stop_ || (sent_ - taken_ < requests_.size() && !broken_); });
      if (stop_) break;
      sending_ = true;
    }
    const bool more = SendNext();
    {
      const std::lock_guard lock(mutex_);
      sending_ = false;
    }
    changed_.notify_all();
    if (!more) break;
  }
  {
    const std::lock_guard lock(mutex_);
    exhausted_ = true;
  }
  changed_.notify_all();
}

void Lane::RunTaker() {
  while (true) {
    bool broken = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock,
                    [this] { return sent_ > taken_ || (broken_ && !sending_) || exhausted_; });
      broken = broken_ && !sending_;
      if (!broken && sent_ == taken_) break;
    }
    if (broken) {
      Reopen();
    } else {
      TakeNext();
    }
  }
  over_ = true;
}

bool Lane::SendNext() {
  // Only the sender changes sent_.
  Request& request = requests_[sent_ % requests_.size()];
  if (!source_->Next(request.step)) return false;
  const std::optional<Clock::time_point> intended = starts_->Next(request.step.due_s);
  if (intended.has_value() && !AwaitTime(*intended)) return false;
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
        {.wait_complete = request.verify && !in_host_memory_, .deadline = kDeadline});
  }
  {
    const std::lock_guard lock(mutex_);
    if (sent.ok()) ++sent_;
    broken_ = broken_ || !sent.ok();
  }
  changed_.notify_all();
  if (!sent.ok()) recorder_.AddError(sent);
  return true;
}

bool Lane::AwaitTime(Clock::time_point time) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time - kAwake, [this] { return stop_; });
    if (stop_) return false;
  }
  while (Clock::now() < time) {
  }
  return true;
}

void Lane::TakeNext() {
  const Request& request = requests_[taken_ % requests_.size()];
  const absl::StatusOr<client::PlanView> plan = NextAnswer(request);
  if (plan.ok()) {
    Record(request, *plan, Clock::now());
  } else {
    recorder_.AddError(plan.status());
  }
  if (stream_.has_value() && !stream_->broken().ok()) {
    const std::lock_guard lock(mutex_);
    broken_ = true;
  }
  Finished(1);
}

absl::StatusOr<client::PlanView> Lane::NextAnswer(const Request& request) {
  if (!stream_.has_value()) {
    return session_.Plan(
        request.step.batch.view(),
        {.wait_complete = request.verify && !in_host_memory_, .deadline = kDeadline});
  }
  return stream_->Next(kDeadline);
}

void Lane::Finished(uint64_t requests) {
  {
    const std::lock_guard lock(mutex_);
    taken_ += requests;
  }
  changed_.notify_all();
}

void Lane::Reopen() {
  const absl::Status reason = stream_->broken();
  const uint64_t lost = under_way();
  for (uint64_t i = 0; i < lost; ++i) recorder_.AddError(reason);
  Finished(lost);
  {
    // Not at once: whatever broke it may last.
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kReopenPause, [this] { return stop_; });
  }
  absl::StatusOr<client::PlanStream> stream = session_.OpenStream({.poll = options_.poll});
  if (stream.ok()) {
    stream_ = *std::move(stream);
  } else {
    recorder_.AddError(stream.status());
  }
  {
    const std::lock_guard lock(mutex_);
    broken_ = !stream.ok() && !stop_;
  }
  changed_.notify_all();
}

void Lane::Record(const Request& request, const client::PlanView& plan,
                  Clock::time_point answered) {
  std::optional<std::vector<std::string>> mismatches;  // nothing: not compared
  if (request.verify) {
    absl::StatusOr<std::vector<std::string>> compared =
        expected_.Compare(request.step.batch.view(), plan);
    if (compared.ok()) {
      mismatches = *std::move(compared);
    } else {
      recorder_.AddError(compared.status());
    }
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
}

}  // namespace gdnplan::load
