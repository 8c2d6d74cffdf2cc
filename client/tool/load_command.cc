// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan load
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/json/batch_writer.h"
#include "client/load/compare.h"
#include "client/load/load_run.h"
#include "client/load/report_html.h"
#include "client/load/report_json.h"
#include "client/load/report_text.h"
#include "client/load/sweep.h"
#include "client/tool/command.h"
#include "client/tool/input.h"
#include "client/tool/load_flags.h"
#include "client/tool/text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

using load::LoadRun;
using load::Result;

constexpr int kMismatch = 2;
constexpr int kGate = 3;
// Wrong plans that are written down.
constexpr int kMaxMismatchFiles = 10;

constexpr char kFooter[] =
    R"(Workloads: --shape decode=256, spec=256,k=3,groups=4, decode=200,prefill=8x1024, ...; given more
than once they take turns. --trace FILE.csv (arrival_s,prompt_tokens,output_tokens): a simulated
scheduler turns requests into steps, over and over until --duration or --steps. Closed loop unless
--rate or --paced is given. --sweep writes --json only, with all its runs.

Exit status: 0 success, 1 failure, 2 a wrong plan or wrong usage, 3 a gate was missed. Ctrl-C ends the
measurement and reports what there is.)";

std::atomic<bool> interrupted = false;
void OnInterrupt(int /*signal*/) { interrupted = true; }

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

// Tells of wrong plans and keeps their batches. Thread safe.
class Mismatches {
 public:
  explicit Mismatches(std::string directory) : directory_(std::move(directory)) {}

  void Add(const plan::PlanConfig& config, const json::OwnedBatch& batch,
           const std::vector<std::string>& mismatches) {
    const std::lock_guard lock(mutex_);
    if (++count_ > kMaxMismatchFiles) return;
    const std::string file =
        absl::StrCat(directory_, "/gdnplan-mismatch-", getpid(), "-", count_, ".json");
    std::ofstream(file) << json::WriteBatch(config, batch).dump() << '\n';
    std::cerr << "\nwrong plan: " << OneLine(mismatches.front());
    if (mismatches.size() > 1) std::cerr << " (and " << mismatches.size() - 1 << " more)";
    std::cerr << "; its batch: " << file << '\n';
  }

 private:
  const std::string directory_;
  std::mutex mutex_;
  int count_ = 0;
};

absl::Status Write(const std::string& file, const std::string& text) {
  if (file.empty()) return absl::OkStatus();
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (stream.good()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot write ", file));
}

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

class LoadCommand {
 public:
  LoadCommand(const Connection& connection, LoadFlags flags)
      : connection_(connection), flags_(std::move(flags)), mismatches_(flags_.mismatch_dir) {}

  absl::StatusOr<int> Run() {
    std::signal(SIGINT, OnInterrupt);
    if (!flags_.sweep.empty()) return RunSweep();
    GDNPLAN_ASSIGN_OR_RETURN(const Result result, RunOnce(flags_));
    std::cout << load::FormatReport(result);
    GDNPLAN_RETURN_IF_ERROR(Write(flags_.json_file, load::ToJsonText(result)));
    GDNPLAN_RETURN_IF_ERROR(Write(flags_.csv_file, load::ToCsv(result.latency)));
    GDNPLAN_RETURN_IF_ERROR(Write(flags_.html_file, load::ToHtml(result)));
    return StatusOf(result);
  }

 private:
  absl::StatusOr<Result> RunOnce(const LoadFlags& flags) {
    GDNPLAN_ASSIGN_OR_RETURN(load::LoadOptions options, OptionsOf(flags));
    options.on_mismatch = [this](const auto& config, const auto& batch, const auto& mismatches) {
      mismatches_.Add(config, batch, mismatches);
    };
    GDNPLAN_ASSIGN_OR_RETURN(const client::Client client, connection_.Connect());
    GDNPLAN_ASSIGN_OR_RETURN(const client::ServerInfo server, client.GetServerInfo());
    GDNPLAN_ASSIGN_OR_RETURN(
        const std::unique_ptr<LoadRun> run,
        LoadRun::Start(std::move(options), [this] { return connection_.Connect(); }));
    MeasureWindow(*run, flags.warm_up_s, 0, /*warm_up=*/true);
    GDNPLAN_ASSIGN_OR_RETURN(Result result, MeasureStable(*run, flags));
    if (flags.max_p99_us.has_value()) {
      result.objective_ns = static_cast<int64_t>(*flags.max_p99_us * 1e3);
    }
    result.parameters = {{"tool", "gdnplan " GDNPLAN_VERSION},
                         {"server", server.version},
                         {"address", connection_.address()}};
    for (const client::ArenaInfo& arena : run->info().arenas) {
      result.parameters["device_names"].push_back(arena.device.name);
      result.parameters["device_ids"].push_back(arena.device.id);
    }
    result.parameters.update(ParametersOf(flags));
    const absl::Status stopped = run->Stop();
    // What was measured counts, even if the server is gone by now.
    if (!stopped.ok()) std::cerr << "gdnplan: " << OneLine(std::string(stopped.message())) << '\n';
    return result;
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

  absl::StatusOr<Result> MeasureStable(LoadRun& run, const LoadFlags& flags) {
    std::vector<Result> windows;
    do {
      windows.push_back(MeasureWindow(run, flags.duration_s, flags.steps, /*warm_up=*/false));
      if (flags.stable_percent <= 0 || interrupted || run.over()) return windows.back();
    } while (!Stable(windows, flags.stable_percent) &&
             windows.size() < static_cast<size_t>(flags.max_windows));
    if (!Stable(windows, flags.stable_percent)) {
      std::cerr << "gdnplan: not stable within " << flags.stable_percent << " % after "
                << windows.size() << " windows; the last one is reported\n";
    }
    return windows.back();
  }

  absl::StatusOr<int> RunSweep() {
    GDNPLAN_ASSIGN_OR_RETURN(const Sweep sweep, ParseSweep(flags_.sweep));
    std::vector<load::SweepRow> rows;
    nlohmann::ordered_json runs;
    int status = kSuccess;
    for (const double value : sweep.values) {
      LoadFlags flags = flags_;
      if (sweep.parameter == "rate") {
        flags.rate = value;
      } else {
        flags.concurrency = static_cast<int>(value);
      }
      GDNPLAN_ASSIGN_OR_RETURN(const Result result, RunOnce(flags));
      rows.push_back(load::MakeSweepRow(absl::StrCat(value), result));
      runs.push_back(load::ToJson(result));
      status = std::max(status, StatusOf(result));
      if (interrupted) break;
    }
    std::cout << load::FormatSweep(sweep.parameter, rows);
    const nlohmann::ordered_json all = {{"sweep", sweep.parameter}, {"runs", std::move(runs)}};
    GDNPLAN_RETURN_IF_ERROR(Write(flags_.json_file, all.dump(2) + '\n'));
    return status;
  }

  int StatusOf(const Result& result) const {
    if (result.mismatches > 0) return kMismatch;
    int status = kSuccess;
    const auto missed = [&](const std::string& text) {
      std::cerr << "gdnplan: gate missed: " << text << '\n';
      status = kGate;
    };
    const double p99_us = static_cast<double>(result.latency.Percentile(99)) / 1e3;
    if (flags_.max_p99_us.has_value() && !(p99_us <= *flags_.max_p99_us)) {
      missed(absl::StrCat("p99 ", p99_us, " us, --max-p99-us ", *flags_.max_p99_us));
    }
    if (flags_.min_rate.has_value() && !(result.rate() >= *flags_.min_rate)) {
      missed(absl::StrCat(result.rate(), " plans/s, --min-rate ", *flags_.min_rate));
    }
    if (flags_.max_errors.has_value() && result.num_errors() > *flags_.max_errors) {
      missed(absl::StrCat(result.num_errors(), " errors, --max-errors ", *flags_.max_errors));
    }
    if (status == kSuccess && result.plans == 0) {
      std::cerr << "gdnplan: no plan was answered\n";
      status = kFailure;
    }
    return status;
  }

  const Connection& connection_;
  const LoadFlags flags_;
  Mismatches mismatches_;
  ProgressLine line_;
};

absl::StatusOr<int> Compare(const std::vector<std::string>& files) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::string before, ReadFile(files[0]));
  GDNPLAN_ASSIGN_OR_RETURN(const std::string after, ReadFile(files[1]));
  GDNPLAN_ASSIGN_OR_RETURN(const std::string text,
                           load::CompareResults({files[0], before}, {files[1], after}));
  std::cout << text;
  return kSuccess;
}

}  // namespace

void AddLoadCommand(CLI::App& app, const Connection& connection, Action& action) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App* command = app.add_subcommand(
      "load", "Puts a load on a server as engines would, and says what it measured");
  command->footer(kFooter);
  AddLoadFlags(*command, *flags);
  command->callback([flags, &connection, &action] {
    action = [flags, &connection]() -> absl::StatusOr<int> {
      if (!flags->compare.empty()) return Compare(flags->compare);
      return LoadCommand(connection, *flags).Run();
    };
  });
}

}  // namespace gdnplan::tool
