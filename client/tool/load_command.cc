// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/json/text_file.h"
#include "client/load/compare.h"
#include "client/load/load_run.h"
#include "client/load/report_json.h"
#include "client/load/report_text.h"
#include "client/load/sweep.h"
#include "client/tool/command.h"
#include "client/tool/input_files.h"
#include "client/tool/load_flags.h"
#include "client/tool/load_outputs.h"
#include "client/tool/load_verdict.h"
#include "client/tool/mismatches.h"
#include "client/tool/text.h"
#include "client/tool/usage.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

using load::LoadRun;
using load::Result;

constexpr char kLoadFooter[] =
    R"(Workloads: --shape decode=256, spec=256,k=3,groups=4, decode=200,prefill=8x1024, ...; given more
than once they take turns. --trace FILE.csv (arrival_s,prompt_tokens,output_tokens): a simulated
scheduler turns requests into steps, over and over until --duration or --steps. Closed loop unless
--rate or --paced is given. --sweep writes --json only, with all its runs.

Exit status: 0 success, 1 failure (no server, a session lost or refused, no plan answered), 2 a wrong
plan or wrong usage, 3 a gate was missed. Ctrl-C (or SIGTERM, or SIGHUP) ends the measurement and
reports what there is; a second one ends at once.)";

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> interrupted = false;

// Once: the next one, whichever it is, ends the process.
void OnInterrupt(int /*signal*/) {
  interrupted = true;
  for (const int each : kInterrupts) signal(each, SIG_DFL);
}

void AwaitInterrupt() {
  for (const int each : kInterrupts) {
    // nohup, say, wants it ignored.
    if (signal(each, OnInterrupt) == SIG_IGN) signal(each, SIG_IGN);
  }
}

void Warn(const std::string& text) { std::cerr << "gdnplan: " << OneLine(text) << '\n'; }

// The line that changes on a terminal; nothing elsewhere.
class ProgressLine {
 public:
  void Show(const load::Progress& progress) {
    if (terminal_) std::cerr << '\r' << load::FormatProgress(progress) << std::flush;
  }
  void Clear() {
    if (terminal_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
};

bool Agree(double a, double b, double percent) {
  return std::abs(a - b) <= percent / 100 * std::max(std::abs(a), std::abs(b));
}

// Whether the last three windows agree.
bool Stable(const std::vector<Result>& windows, double percent) {
  if (windows.size() < 3) return false;
  const auto last = windows.end() - 3;
  return std::all_of(last, windows.end(), [&](const Result& window) {
    return Agree(window.rate(), last->rate(), percent) &&
           Agree(static_cast<double>(window.latency.Percentile(99)),
                 static_cast<double>(last->latency.Percentile(99)), percent);
  });
}

int32_t AtMost(int32_t value, uint32_t limit) {
  return static_cast<int32_t>(std::min(static_cast<uint32_t>(value), limit));
}

// `flag`: of traces; a shape has no others.
absl::Status CheckLimit(const LoadFlags& flags, const char* flag, int32_t value,
                        const char* server_flag, uint32_t limit) {
  if (static_cast<uint32_t>(value) <= limit) return absl::OkStatus();
  return WrongUsage(
      flags.workload.trace.empty() ? "--shape" : flag,
      absl::StrCat("its session has ", value, ", and the server allows ", limit, " (its ",
                   server_flag, "); ask for less, or start the server with more"));
}

absl::Status CheckSize(const LoadFlags& flags, const client::ServerInfo::Limits& limits,
                       const plan::PlanConfig& config) {
  GDNPLAN_RETURN_IF_ERROR(CheckLimit(flags, "--max-num-seqs", config.max_num_seqs, "--max-num-seqs",
                                     limits.max_num_seqs));
  GDNPLAN_RETURN_IF_ERROR(CheckLimit(flags, "--max-num-batched-tokens",
                                     config.max_num_batched_tokens, "--max-num-batched-tokens",
                                     limits.max_num_batched_tokens));
  return CheckLimit(flags, "--groups", config.num_groups(), "--max-groups", limits.max_groups);
}

// What the server does not allow, as far as it can be known before anything is sent.
absl::Status LimitTo(const LoadFlags& flags, const client::ServerInfo::Limits& limits,
                     load::LoadOptions& options) {
  if (static_cast<uint64_t>(options.sessions) > limits.max_sessions) {
    return WrongUsage(
        "--sessions",
        absl::StrCat("must be in 1..", limits.max_sessions, ", the server's --max-sessions (got ",
                     options.sessions, "); ask for fewer, or raise that"));
  }
  options.max_in_flight =
      std::max(1, static_cast<int>(std::min(limits.max_plans_in_flight, limits.max_slots)));
  GDNPLAN_RETURN_IF_ERROR(AsWrongUsage(LoadRun::Check(options)));
  options.usual.max_num_seqs = AtMost(options.usual.max_num_seqs, limits.max_num_seqs);
  options.usual.max_num_batched_tokens =
      AtMost(options.usual.max_num_batched_tokens, limits.max_num_batched_tokens);
  GDNPLAN_ASSIGN_OR_RETURN(const auto source, options.source(0, options.usual));
  GDNPLAN_RETURN_IF_ERROR(CheckSize(flags, limits, source->config()));
  const uint64_t bytes = source->max_batch_bytes();
  if (bytes <= limits.max_message_bytes) return absl::OkStatus();
  return WrongUsage("--shape", absl::StrCat("a batch of ", Bytes(bytes), " is over the ",
                                            Bytes(limits.max_message_bytes),
                                            " that the server takes (its --max-message-bytes); ask "
                                            "for fewer rows, groups or drafts"));
}

class LoadCommand {
 public:
  LoadCommand(const Connection& connection, LoadFlags flags, std::vector<InputFile> inputs)
      : connection_(connection),
        flags_(std::move(flags)),
        inputs_(std::move(inputs)),
        mismatches_(flags_.mismatch_dir) {}

  absl::StatusOr<int> Run() {
    GDNPLAN_ASSIGN_OR_RETURN(const std::vector<LoadToRun> loads, LoadsOf(flags_));
    // Where the tool merely happens to run, it need not be able to write: containers are read-only.
    if (flags_.mismatch_dir != LoadFlags().mismatch_dir) {
      GDNPLAN_RETURN_IF_ERROR(mismatches_.CheckDirectory());
    }
    GDNPLAN_ASSIGN_OR_RETURN(LoadOutputs outputs, LoadOutputs::Open(flags_, inputs_));
    AwaitInterrupt();
    if (!flags_.sweep.empty()) return RunSweep(loads, outputs);
    GDNPLAN_ASSIGN_OR_RETURN(const Result result, RunOnce(loads.front()));
    std::cout << load::FormatReport(result) << std::flush;
    GDNPLAN_RETURN_IF_ERROR(outputs.Write(result));
    return StatusOf(result, "");
  }

 private:
  absl::StatusOr<Result> RunOnce(const LoadToRun& load) {
    const LoadFlags& flags = load.flags;
    load::LoadOptions options = load.options;
    options.on_mismatch = [this](const auto& config, const auto& batch, const auto& mismatches) {
      mismatches_.Add(config, batch, mismatches);
    };
    options.address = connection_.address();
    options.deadline = connection_.timeout();
    GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, connection_.Connect());
    const absl::StatusOr<client::ServerInfo> server = client.GetServerInfo();
    if (!server.ok()) return load::OfCall(server.status(), "GetServerInfo", options.address);
    GDNPLAN_RETURN_IF_ERROR(LimitTo(flags, server->limits, options));
    GDNPLAN_ASSIGN_OR_RETURN(
        const std::unique_ptr<LoadRun> run,
        LoadRun::Start(std::move(options), [this] { return connection_.Connect(); }));
    GDNPLAN_RETURN_IF_ERROR(WarmUp(*run, flags.warm_up()));
    // What was measured counts, even if the server is gone by now.
    Result result = run->Close(MeasureStable(*run, flags));
    if (flags.gates.max_p99_us.has_value()) {
      result.objective_ns = static_cast<int64_t>(*flags.gates.max_p99_us * 1e3);
    }
    result.parameters = {{"tool", "gdnplan " GDNPLAN_VERSION},
                         {"server", server->version},
                         {"address", result.address},
                         {"timeout_s", connection_.timeout_s}};
    for (const client::ArenaInfo& arena : run->info().arenas) {
      result.parameters["device_names"].push_back(arena.device.name);
      result.parameters["device_ids"].push_back(arena.device.id);
    }
    result.parameters.update(ParametersOf(flags));
    return result;
  }

  // What fails here would fail all of the measurement.
  absl::Status WarmUp(LoadRun& run, double seconds) {
    if (seconds <= 0) return absl::OkStatus();
    const Result result = MeasureWindow(run, seconds, 0, /*warm_up=*/true);
    if (interrupted)
      return absl::CancelledError("interrupted in the warm-up: nothing was measured");
    const std::vector<std::string> failures = load::FormatFailures(result);
    if (failures.empty()) return absl::OkStatus();
    for (size_t i = 1; i < failures.size(); ++i) Warn("in the warm-up: " + failures[i]);
    return absl::UnavailableError("in the warm-up: " + failures.front());
  }

  Result MeasureWindow(LoadRun& run, double seconds, uint64_t steps, bool warm_up) {
    load::Progress progress;
    progress.warm_up = warm_up;
    const Result result =
        run.Measure({.length = std::chrono::duration<double>(seconds),
                     .steps = steps,
                     .progress =
                         [&](const Result& so_far) {
                           const load::Interval& last = so_far.timeline.back();
                           progress.elapsed_s = so_far.seconds;
                           progress.left_s = std::max(0.0, seconds - so_far.seconds);
                           progress.rate = static_cast<double>(last.latency.count()) /
                                           std::max(last.seconds, 1e-3);
                           progress.p50_ns = last.latency.Percentile(50);
                           progress.p99_ns = last.latency.Percentile(99);
                           progress.errors = so_far.num_errors();
                           line_.Show(progress);
                         },
                     .interrupted = [] { return interrupted.load(); }});
    line_.Clear();
    return result;
  }

  Result MeasureStable(LoadRun& run, const LoadFlags& flags) {
    std::vector<Result> windows;
    do {
      windows.push_back(MeasureWindow(run, flags.duration_s, flags.steps, /*warm_up=*/false));
      const bool ended = interrupted || run.over() || !windows.back().failures.empty();
      if (flags.stable_percent <= 0 || ended) return windows.back();
    } while (!Stable(windows, flags.stable_percent) &&
             windows.size() < static_cast<size_t>(flags.max_windows));
    if (!Stable(windows, flags.stable_percent)) {
      Warn(absl::StrCat("not stable within ", flags.stable_percent, " % after ", windows.size(),
                        " windows; the last one is reported"));
    }
    return windows.back();
  }

  absl::StatusOr<int> RunSweep(const std::vector<LoadToRun>& loads, LoadOutputs& outputs) {
    std::vector<load::SweepRow> rows;
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    const std::string parameter = SweptParameter(flags_);
    int status = kSuccess;
    for (const LoadToRun& load : loads) {
      const std::string at = absl::StrCat(parameter, "=", load.value, ": ");
      const absl::StatusOr<Result> result = RunOnce(load);
      if (!result.ok()) {
        // What there is so far is worth its table.
        const bool usage = IsWrongUsage(result.status());
        Warn(at + std::string(result.status().message()) +
             (usage ? "; see gdnplan load --help" : ""));
        status = Worse(status, usage ? kUsage : kFailure);
        break;
      }
      rows.push_back(load::MakeSweepRow(load.value, *result));
      results.push_back(load::ToJson(*result));
      status = Worse(status, StatusOf(*result, at));
      if (interrupted || result->lost_after_s.has_value()) break;
    }
    if (rows.empty()) return status;  // an older file is worth more than an empty one
    std::cout << load::FormatSweep(parameter, rows) << std::flush;
    const nlohmann::ordered_json all = {{"sweep", parameter}, {"runs", std::move(results)}};
    GDNPLAN_RETURN_IF_ERROR(outputs.WriteJson(load::ToText(all)));
    return status;
  }

  // Says why it is no success.
  int StatusOf(const Result& result, const std::string& at) const {
    const Verdict verdict = Judge(result, flags_.gates);
    for (const std::string& reason : verdict.reasons) Warn(at + reason);
    return mismatches_.any() ? kMismatch : verdict.status;
  }

  const Connection& connection_;
  const LoadFlags flags_;
  const std::vector<InputFile> inputs_;
  Mismatches mismatches_;
  ProgressLine line_;
};

absl::StatusOr<int> Compare(const std::vector<std::string>& files) {
  const auto compare = [&files]() -> absl::StatusOr<std::string> {
    GDNPLAN_ASSIGN_OR_RETURN(const std::string before, json::ReadFile(files[0]));
    GDNPLAN_ASSIGN_OR_RETURN(const std::string after, json::ReadFile(files[1]));
    return load::CompareResults({files[0], before}, {files[1], after});
  };
  GDNPLAN_ASSIGN_OR_RETURN(const std::string text, OfFlag("--compare", compare()));
  std::cout << text;
  return kSuccess;
}

}  // namespace

void AddLoadCommand(CLI::App& app, const Connection& connection, Action& action) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App* command = app.add_subcommand(
      "load", "Puts a load on a server as engines would, and says what it measured");
  command->footer(kLoadFooter);
  AddLoadFlags(*command, *flags);
  command->callback([flags, command, &connection, &action] {
    action = [flags, command, &connection]() -> absl::StatusOr<int> {
      GDNPLAN_RETURN_IF_ERROR(CheckTogether(*command, *flags));
      if (!flags->compare.empty()) return Compare(flags->compare);
      return LoadCommand(connection, *flags, InputFilesOf(*command)).Run();
    };
  });
}

}  // namespace gdnplan::tool
