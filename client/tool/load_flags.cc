// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/load_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

constexpr double kDay = 86'400;

void AddLoad(CLI::App& command, LoadFlags& flags) {
  command.add_option("--sessions", flags.sessions, "Sessions, each an engine's model runner")
      ->check(CLI::Range(1, 1'000));
  command
      .add_option("--connections", flags.connections,
                  "Connections that the sessions share. 0: one for each")
      ->check(CLI::Range(0, 1'000));
  command.add_option("--transport", flags.transport, "stream (PlanStream) or unary (Plan)")
      ->check(CLI::IsMember({"stream", "unary"}));
  command.add_flag("--poll", flags.poll, "Poll for a stream's answers, which takes a core each");
  command
      .add_option("--device", flags.devices, "Device ids, as info shows them (default: the first)")
      ->type_name("ID");
  command
      .add_option("--concurrency", flags.concurrency,
                  "Closed loop: requests under way, of all sessions together. 0: one for each "
                  "session")
      ->check(CLI::Range(0, 16'000));
  command
      .add_option("--rate", flags.rate,
                  "Open loop: requests a second, of all sessions together, whatever becomes of "
                  "the answers; latency counts from the intended start. 0: closed loop")
      ->check(CLI::Range(0.0, 1e7));
  command.add_flag("--poisson", flags.poisson, "Open loop: starts at random instead of evenly");
  command.add_flag("--paced", flags.paced,
                   "Open loop: a trace's steps start when its simulated engines are due");
  command.add_option("--seed", flags.seed, "Of batches and random starts");
}

void AddLength(CLI::App& command, LoadFlags& flags) {
  command.add_option("--duration", flags.duration_s, "Seconds to measure")
      ->check(CLI::Range(0.1, kDay));
  command.add_option("--steps", flags.steps, "End once so many plans were measured. 0: by time");
  command.add_option("--warmup", flags.warm_up_s, "Seconds that are left out first")
      ->check(CLI::Range(0.0, kDay));
  command
      .add_option("--stable", flags.stable_percent,
                  "Measure again until rate and p99 of the last three windows of --duration are "
                  "within so many percent. 0: one window")
      ->check(CLI::Range(0.0, 100.0));
  command.add_option("--max-windows", flags.max_windows, "Of --stable")
      ->check(CLI::Range(3, 1'000));
}

void AddOutput(CLI::App& command, LoadFlags& flags) {
  command
      .add_option("--verify", flags.verify,
                  "Compare plans with the core of this process, through the mapped arena: all, "
                  "sample (one of 64) or none")
      ->check(CLI::IsMember({"all", "sample", "none"}));
  command.add_option("--mismatch-dir", flags.mismatch_dir,
                     "Where the batch of a wrong plan is written, for gdnplan plan");
  command.add_option("--json", flags.json_file, "Write everything to this file")->type_name("FILE");
  CLI::Option* csv = command.add_option("--csv", flags.csv_file, "Write the latency's histogram");
  csv->type_name("FILE");
  CLI::Option* html = command.add_option("--html", flags.html_file, "Write a page with plots");
  html->type_name("FILE");
  command.add_option("--max-p99-us", flags.max_p99_us, "Exit status 3 if p99 is above this");
  command.add_option("--min-rate", flags.min_rate, "Exit status 3 if plans/s are below this");
  command.add_option("--max-errors", flags.max_errors, "Exit status 3 if there are more errors");
  command
      .add_option("--sweep", flags.sweep,
                  "One run for each value: concurrency=1,2,4,8 or rate=1000,2000,...")
      ->type_name("NAME=V,...")
      ->excludes(csv)
      ->excludes(html);
  command.add_option("--compare", flags.compare, "Put no load on: compare two --json files")
      ->expected(2)
      ->type_name("FILE");
}

load::Pace PaceOf(const LoadFlags& flags) {
  if (flags.paced) return load::Pace::kTrace;
  if (flags.rate <= 0) return load::Pace::kClosed;
  return flags.poisson ? load::Pace::kPoisson : load::Pace::kConstant;
}

load::Verify VerifyOf(const std::string& text) {
  if (text == "all") return load::Verify::kAll;
  return text == "sample" ? load::Verify::kSample : load::Verify::kNone;
}

}  // namespace

void AddLoadFlags(CLI::App& command, LoadFlags& flags) {
  command.option_defaults()->always_capture_default();
  AddWorkloadFlags(command, flags.workload);
  AddLoad(command, flags);
  AddLength(command, flags);
  AddOutput(command, flags);
}

absl::StatusOr<load::LoadOptions> OptionsOf(const LoadFlags& flags) {
  if (flags.paced && (flags.workload.trace.empty() || flags.rate > 0)) {
    return plan::InvalidField("paced", "needs --trace, and no --rate");
  }
  if (flags.poisson && flags.rate <= 0) return plan::InvalidField("poisson", "needs --rate");
  load::LoadOptions options;
  options.sessions = flags.sessions;
  options.connections = flags.connections == 0 ? flags.sessions : flags.connections;
  options.transport =
      flags.transport == "unary" ? load::Transport::kUnary : load::Transport::kStream;
  options.poll = flags.poll;
  options.devices = flags.devices;
  options.pace = PaceOf(flags);
  options.concurrency = flags.concurrency == 0 ? flags.sessions : flags.concurrency;
  options.rate = flags.rate;
  options.seed = flags.seed;
  options.verify = VerifyOf(flags.verify);
  GDNPLAN_ASSIGN_OR_RETURN(options.source,
                           load::MakeSources(flags.workload, flags.sessions, flags.seed));
  return options;
}

absl::StatusOr<Sweep> ParseSweep(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  Sweep sweep;
  sweep.parameter = parts.front();
  if (parts.size() == 2 && (sweep.parameter == "concurrency" || sweep.parameter == "rate")) {
    for (const absl::string_view value : absl::StrSplit(parts[1], ',')) {
      double number = 0;
      if (!absl::SimpleAtod(value, &number) || !(number >= 1) || number > 1e7) break;
      sweep.values.push_back(number);
    }
    const auto commas = std::count(parts[1].begin(), parts[1].end(), ',');
    if (sweep.values.size() == static_cast<size_t>(commas) + 1) return sweep;
  }
  return plan::InvalidField(
      "sweep", absl::StrCat("must be concurrency=N,N,... or rate=N,N,... with numbers from 1 (got ",
                            text, ")"));
}

nlohmann::ordered_json ParametersOf(const LoadFlags& flags) {
  nlohmann::ordered_json parameters = ParametersOf(flags.workload);
  parameters.update({{"sessions", flags.sessions},
                     {"connections", flags.connections == 0 ? flags.sessions : flags.connections},
                     {"transport", flags.transport},
                     {"poll", flags.poll},
                     {"devices", flags.devices},
                     {"seed", flags.seed}});
  if (PaceOf(flags) == load::Pace::kClosed) {
    parameters["concurrency"] = flags.concurrency == 0 ? flags.sessions : flags.concurrency;
  } else if (flags.paced) {
    parameters["paced"] = true;
  } else {
    parameters.update({{"rate", flags.rate}, {"poisson", flags.poisson}});
  }
  parameters.update({{"duration_s", flags.duration_s},
                     {"steps", flags.steps},
                     {"warmup_s", flags.warm_up_s},
                     {"stable_percent", flags.stable_percent},
                     {"verify", flags.verify}});
  return parameters;
}

}  // namespace gdnplan::tool
