// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/load_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxInFlight = 16;  // the server's, and PlanStream's
constexpr std::chrono::milliseconds kTick{20};

absl::Status Check(const LoadOptions& options) {
  if (options.sessions < 1) {
    return plan::InvalidField("sessions",
                              absl::StrCat("must be at least 1 (got ", options.sessions, ")"));
  }
  if (options.connections < 1 || options.connections > options.sessions) {
    return plan::InvalidField(
        "connections", absl::StrCat("must be in 1..", options.sessions, ", the sessions (got ",
                                    options.connections, ")"));
  }
  if ((options.pace == Pace::kConstant || options.pace == Pace::kPoisson) && options.rate <= 0) {
    return plan::InvalidField("rate", absl::StrCat("must be above 0 (got ", options.rate, ")"));
  }
  if (options.pace != Pace::kClosed) return absl::OkStatus();
  const int most =
      options.transport == Transport::kStream ? options.sessions * kMaxInFlight : options.sessions;
  if (options.concurrency < options.sessions || options.concurrency > most) {
    return plan::InvalidField(
        "concurrency",
        absl::StrCat("must be in ", options.sessions, "..", most, " with ", options.sessions,
                     " sessions and ",
                     options.transport == Transport::kStream ? "streams" : "unary calls", " (got ",
                     options.concurrency, "); give more sessions"));
  }
  return absl::OkStatus();
}

// Requests under way on session i.
int MostUnderWay(const LoadOptions& options, int i) {
  if (options.transport == Transport::kUnary) return 1;
  if (options.pace != Pace::kClosed) return kMaxInFlight;
  return options.concurrency / options.sessions +
         (i < options.concurrency % options.sessions ? 1 : 0);
}

}  // namespace

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
    GDNPLAN_ASSIGN_OR_RETURN(
        std::unique_ptr<Lane> lane,
        Lane::Open(run->options_, i, clients[static_cast<size_t>(i) % clients.size()],
                   MostUnderWay(run->options_, i)));
    run->lanes_.push_back(std::move(lane));
  }
  const Clock::time_point begin = Clock::now();
  for (const auto& lane : run->lanes_) lane->Start(begin);
  return run;
}

LoadRun::~LoadRun() { Stop().IgnoreError(); }

bool LoadRun::over() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->over(); });
}

void LoadRun::Discard() {
  for (const auto& lane : lanes_) lane->recorder().Take();
}

Result LoadRun::Measure(const Window& window) {
  Result result;
  const Clock::time_point begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(window.length);
  Clock::time_point interval_begin = begin;
  bool done = false;
  while (!done) {
    std::this_thread::sleep_until(std::min(end, Clock::now() + kTick));
    // First asked, then taken: what was answered before the end is counted.
    const bool all_over = over();
    const Clock::time_point now = Clock::now();
    done = now >= end || all_over || (window.interrupted && window.interrupted());
    const bool second = now - interval_begin >= std::chrono::seconds(1);
    if (!done && !second && window.steps == 0) continue;
    Sample sample;
    for (const auto& lane : lanes_) sample.Merge(lane->recorder().Take());
    result.Merge(sample);
    result.seconds = std::chrono::duration<double>(now - begin).count();
    done = done || (window.steps > 0 && result.plans >= window.steps);
    if (result.timeline.empty() || result.timeline.back().seconds >= 1) {
      result.timeline.emplace_back().start_s =
          std::chrono::duration<double>(interval_begin - begin).count();
    }
    Interval& interval = result.timeline.back();
    interval.latency.Merge(sample.latency);
    for (const auto& [code, count] : sample.errors) interval.errors += count;
    if (!second && !done) continue;
    interval.seconds = std::chrono::duration<double>(now - interval_begin).count();
    interval_begin = now;
    if (window.progress) window.progress(result);
  }
  return result;
}

absl::Status LoadRun::Stop() {
  for (const auto& lane : lanes_) lane->BeginStop();
  absl::Status status;
  for (const auto& lane : lanes_) status.Update(lane->Stop());
  lanes_.clear();
  return status;
}

}  // namespace gdnplan::load
