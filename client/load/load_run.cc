// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/load_run.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/report_text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::milliseconds kSoon{1};
// How often sessions are asked for: a loss is known that precisely.
constexpr std::chrono::milliseconds kWatch{100};
// Sessions end with their stream, or some seconds later: none comes back after this.
constexpr std::chrono::seconds kGiveUp{5};

// Requests under way on session i.
int MostUnderWay(const LoadOptions& options, int i) {
  if (options.transport == Transport::kUnary) return 1;
  if (options.pace != Pace::kClosed) return options.max_in_flight;
  return options.concurrency / options.sessions +
         (i < options.concurrency % options.sessions ? 1 : 0);
}

double Seconds(Lane::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

absl::Status OfCall(const absl::Status& error, std::string_view call, const std::string& address) {
  if (!absl::IsUnavailable(error) && !absl::IsDeadlineExceeded(error)) return error;
  const std::string text = ErrorText(absl::StatusCodeToString(error.code()),
                                     std::string(error.message()), call, address);
  return {error.code(), absl::StrCat(text, "; gdnplan health says whether a server serves there")};
}

absl::Status LoadRun::Check(const LoadOptions& options) {
  if (options.sessions < 1) {
    return plan::InvalidField("sessions",
                              absl::StrCat("must be at least 1 (got ", options.sessions, ")"));
  }
  if (options.connections < 1 || options.connections > options.sessions) {
    return plan::InvalidField(
        "connections", absl::StrCat("must be in 1..", options.sessions, ", the sessions (got ",
                                    options.connections, ")"));
  }
  if ((options.pace == Pace::kConstant || options.pace == Pace::kPoisson) &&
      !(options.rate >= kMinRate)) {
    return plan::InvalidField(
        "rate", absl::StrCat("must be at least ", kMinRate, " (got ", options.rate, ")"));
  }
  if (options.pace != Pace::kClosed) return absl::OkStatus();
  const bool stream = options.transport == Transport::kStream;
  const int64_t most = int64_t{options.sessions} * (stream ? options.max_in_flight : 1);
  if (options.concurrency >= options.sessions && options.concurrency <= most) {
    return absl::OkStatus();
  }
  return plan::InvalidField(
      "concurrency",
      absl::StrCat("must be in ", options.sessions, "..", most, ", 1 to ",
                   stream ? options.max_in_flight : 1, " for each of --sessions=", options.sessions,
                   stream ? ", as many as the server takes of a stream" : " with unary calls",
                   " (got ", options.concurrency, ")"));
}

absl::StatusOr<std::unique_ptr<LoadRun>> LoadRun::Start(
    LoadOptions options, const std::function<absl::StatusOr<client::Client>()>& connect) {
  GDNPLAN_RETURN_IF_ERROR(Check(options));
  std::unique_ptr<LoadRun> run(new LoadRun(std::move(options)));
  std::vector<client::Client> clients;
  for (int i = 0; i < run->options_.connections; ++i) {
    GDNPLAN_ASSIGN_OR_RETURN(client::Client client, connect());
    clients.push_back(std::move(client));
  }
  for (int i = 0; i < run->options_.sessions; ++i) {
    absl::StatusOr<std::unique_ptr<Lane>> lane =
        Lane::Open(run->options_, i, clients[static_cast<size_t>(i) % clients.size()],
                   MostUnderWay(run->options_, i));
    if (!lane.ok()) {
      const absl::Status error = OfCall(lane.status(), "OpenSession", run->options_.address);
      return absl::Status(
          error.code(),
          absl::StrCat("session ", i + 1, " of ", run->options_.sessions, ": ", error.message()));
    }
    run->lanes_.push_back(*std::move(lane));
  }
  // One session at a time, so that many of them do not load the server; where one is lost, all may
  // be.
  run->watch_ =
      std::make_unique<Ticker>(kWatch, [&lanes = run->lanes_, next = size_t{0}]() mutable {
        next = (next + 1) % lanes.size();
        if (lanes[next]->Look()) return;
        for (const auto& lane : lanes) lane->Look();
      });
  return run;
}

LoadRun::~LoadRun() { Stop(); }

bool LoadRun::over() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const auto& lane) { return lane->state().over; });
}

// Of all lanes together.
struct LoadRun::State {
  bool at_rest = true;
  bool finished = true;
  std::optional<Clock::time_point> lost;  // the last of them, if all are
  Clock::time_point last_plan;
  Clock::time_point last_taken;
};

LoadRun::State LoadRun::Look() const {
  State all;
  bool lost = true;
  Clock::time_point since;
  for (const auto& lane : lanes_) {
    const Lane::State state = lane->state();
    all.at_rest = all.at_rest && state.at_rest;
    all.finished = all.finished && state.finished;
    all.last_plan = std::max(all.last_plan, state.last_plan);
    all.last_taken = std::max(all.last_taken, state.last_taken);
    lost = lost && state.lost;
    if (state.lost) since = std::max(since, state.trouble->since);
  }
  if (lost) all.lost = since;
  return all;
}

Result LoadRun::Measure(const Window& window) {
  const Clock::time_point begin = begin_ = Clock::now();
  Clock::time_point end = begin + std::chrono::duration_cast<Clock::duration>(window.length);
  const auto budget = std::make_shared<StartBudget>(
      window.steps > 0 ? window.steps : std::numeric_limits<uint64_t>::max());
  for (const auto& lane : lanes_) lane->Begin({begin, end, budget});

  Result result;
  result.address = options_.address;
  Clock::time_point interval_begin = begin;
  bool done = false;
  while (!done) {
    const Clock::time_point before = Clock::now();
    std::this_thread::sleep_until(before < end ? std::min(end, before + kTick) : before + kSoon);
    // First looked, then taken: what was answered before is counted.
    const State state = Look();
    const Clock::time_point now = Clock::now();
    const bool gone = state.lost.has_value() && now - *state.lost >= kGiveUp;
    if (now < end && (gone || (window.interrupted && window.interrupted()))) {
      end = now;
      for (const auto& lane : lanes_) lane->EndAt(end);
      continue;
    }
    // An open loop rests between starts, and its time runs on.
    done = state.at_rest && (state.finished || now >= end);
    const bool second = now - interval_begin >= std::chrono::seconds(1);
    if (!done && !second) continue;
    Sample sample;
    for (const auto& lane : lanes_) sample.Merge(lane->recorder().Take());
    result.Merge(sample);
    Clock::time_point until = now;
    if (done) until = state.finished ? state.last_taken : std::max(end, state.last_plan);
    result.seconds = Seconds(until - begin);
    Interval& interval = result.timeline.emplace_back();
    interval.start_s = Seconds(interval_begin - begin);
    interval.seconds = Seconds((done && until > interval_begin ? until : now) - interval_begin);
    interval.latency = sample.latency;
    for (const auto& [code, count] : sample.errors) interval.errors += count;
    interval_begin = now;
    if (window.progress) window.progress(result);
  }
  SetFailures(result);
  return result;
}

void LoadRun::SetFailures(Result& result) const {
  const auto after = [&](Clock::time_point time) {
    return std::clamp(Seconds(time - begin_), 0.0, result.seconds);
  };
  result.failures.clear();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const Lane::State state = lanes_[i]->state();
    if (!state.trouble.has_value()) continue;
    const absl::Status& reason = state.trouble->reason;
    result.failures.push_back({.session = static_cast<int>(i) + 1,
                               .plans = state.plans,
                               .after_s = after(state.trouble->since),
                               .call = state.trouble->call,
                               .code = absl::StatusCodeToString(reason.code()),
                               .reason = std::string(reason.message())});
  }
  if (const State state = Look(); state.lost.has_value()) result.lost_after_s = after(*state.lost);
}

Result LoadRun::Close(Result result) {
  Stop();
  SetFailures(result);
  return result;
}

void LoadRun::Stop() {
  for (const auto& lane : lanes_) lane->BeginStop();
  watch_.reset();
  for (const auto& lane : lanes_) lane->Stop();
}

}  // namespace gdnplan::load
