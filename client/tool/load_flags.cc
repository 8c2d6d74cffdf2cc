// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/load_flags.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/load/load_run.h"
#include "client/tool/usage.h"
#include "gdnplan/plan/status.h"
#include "wire/flag_range.h"

namespace gdnplan::tool {
namespace {

using wire::InRange;

constexpr double kDay = 86'400;
constexpr double kMaxRate = 1e7;
constexpr int kMaxConcurrency = 16'000;
constexpr uint64_t kMaxCount = std::numeric_limits<uint64_t>::max();
constexpr char kConcurrency[] = "concurrency";
constexpr char kRate[] = "rate";

void AddLoad(CLI::App& command, LoadFlags& flags) {
  command.add_option("--sessions", flags.sessions, "Sessions, each an engine's model runner")
      ->check(InRange(1, 1'000));
  command
      .add_option("--connections", flags.connections,
                  "Connections that the sessions share. 0: one for each")
      ->check(InRange(0, 1'000));
  command.add_option("--transport", flags.transport, "stream (PlanStream) or unary (Plan)")
      ->check(wire::OneOf({"stream", "unary"}));
  command.add_flag("--poll", flags.poll, "Poll for a stream's answers, which takes a core each");
  command
      .add_option("--device", flags.devices, "Device ids, as info shows them (default: the first)")
      ->type_name("ID");
  command
      .add_option("--concurrency", flags.concurrency,
                  "Closed loop: requests under way, of all sessions together. 0: one for each "
                  "session")
      ->check(InRange(0, kMaxConcurrency));
  command
      .add_option("--rate", flags.rate,
                  "Open loop: requests a second, of all sessions together, whatever becomes of "
                  "the answers; latency counts from the intended start. 0: closed loop")
      ->check(InRange(0.0, kMaxRate));
  command.add_flag("--poisson", flags.poisson, "Open loop: starts at random instead of evenly");
  command.add_flag("--paced", flags.paced,
                   "Open loop: a trace's steps start when its simulated engines are due");
  command.add_option("--seed", flags.seed, "Of batches and random starts")
      ->check(InRange(uint64_t{0}, kMaxCount));
}

void AddLength(CLI::App& command, LoadFlags& flags) {
  command.add_option("--duration", flags.duration_s, "Seconds to measure")
      ->check(InRange(0.1, kDay));
  command
      .add_option("--steps", flags.steps,
                  "End once so many requests were answered, with a plan or an error. 0: by time")
      ->check(InRange(uint64_t{0}, kMaxCount));
  command
      .add_option("--warmup", flags.warm_up_s,
                  "Seconds that are left out first (default: 1, with --once none)")
      ->check(InRange(0.0, kDay))
      ->default_str("");
  command
      .add_option("--stable", flags.stable_percent,
                  "Measure again until rate and p99 of the last three windows of --duration are "
                  "within so many percent. 0: one window")
      ->check(InRange(0.0, 100.0));
  command.add_option("--max-windows", flags.max_windows, "Of --stable")->check(InRange(3, 1'000));
}

void AddOutput(CLI::App& command, LoadFlags& flags) {
  command
      .add_option("--verify", flags.verify,
                  "Compare plans with the core of this process, through the mapped arena: all, "
                  "sample (one of 64) or none")
      ->check(wire::OneOf({"all", "sample", "none"}));
  command
      .add_option("--mismatch-dir", flags.mismatch_dir,
                  "Where the batch of a wrong plan is written, for gdnplan plan")
      ->type_name("DIR");
  command.add_option("--json", flags.json_file, "Write everything to this file")->type_name("FILE");
  command.add_option("--csv", flags.csv_file, "Write the latency's histogram")->type_name("FILE");
  command.add_option("--html", flags.html_file, "Write a page with plots")->type_name("FILE");
  command.add_option("--max-p99-us", flags.gates.max_p99_us, "Exit status 3 if p99 is above this")
      ->check(InRange(0.0, kDay * 1e6));
  command.add_option("--min-rate", flags.gates.min_rate, "Exit status 3 if plans/s are below this")
      ->check(InRange(0.0, 1e12));
  command
      .add_option("--max-errors", flags.gates.max_errors, "Exit status 3 if there are more errors")
      ->check(InRange(uint64_t{0}, kMaxCount));
  command
      .add_option("--sweep", flags.sweep,
                  "One run for each value: concurrency=1,2,4,8 or rate=1000,2000,...")
      ->type_name("NAME=V,...");
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

load::LoadOptions OptionsOf(const LoadFlags& flags) {
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
  return options;
}

absl::StatusOr<load::SourceMaker> SourcesOf(const LoadFlags& flags) {
  const load::WorkloadOptions& workload = flags.workload;
  std::vector<load::Request> requests;
  if (!workload.trace.empty()) {
    GDNPLAN_RETURN_IF_ERROR(AsWrongUsage(load::ValidateOptions(workload.scheduler)));
    GDNPLAN_ASSIGN_OR_RETURN(requests, OfFlag("--trace", load::ReadTrace(workload.trace)));
    const absl::Status valid = load::ValidateRequests(workload.scheduler, requests);
    if (!valid.ok()) {
      return WrongUsage(
          "--trace", absl::StrCat(workload.trace, ": ", WithFlags(std::string(valid.message()))));
    }
    if (requests.size() < static_cast<size_t>(flags.sessions)) {
      return WrongUsage(
          "--sessions",
          absl::StrCat("must be at most ", requests.size(), ", the requests of ", workload.trace,
                       ", which they share (got ", flags.sessions, ")"));
    }
  }
  auto sources = load::MakeSources(workload, std::move(requests), flags.sessions, flags.seed);
  GDNPLAN_RETURN_IF_ERROR(AsWrongUsage(sources.status()));
  GDNPLAN_RETURN_IF_ERROR(AsWrongUsage((*sources)(0, {}).status()));
  return *std::move(sources);
}

struct Sweep {
  std::string parameter;
  std::vector<std::string> texts;  // as they were given
  std::vector<double> values;
};

absl::StatusOr<Sweep> ParseSweep(const std::string& text) {
  const auto refuse = [&text](const char* rule) {
    return WrongUsage("--sweep", absl::StrCat(rule, " (got ", text, ")"));
  };
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  Sweep sweep;
  sweep.parameter = parts.front();
  const bool concurrency = sweep.parameter == kConcurrency;
  if (parts.size() != 2 || (!concurrency && sweep.parameter != kRate)) {
    return refuse("must be concurrency=N,N,... or rate=N,N,...");
  }
  const CLI::Validator check =
      concurrency ? InRange(1, kMaxConcurrency) : InRange(load::kMinRate, kMaxRate);
  sweep.texts = absl::StrSplit(parts[1], ',');
  for (std::string& value : sweep.texts) {
    if (const std::string error = check(value); !error.empty()) {
      return WrongUsage("--sweep", absl::StrCat(sweep.parameter, " ", error));
    }
    sweep.values.push_back(std::stod(value));
  }
  return sweep;
}

}  // namespace

void AddLoadFlags(CLI::App& command, LoadFlags& flags) {
  command.option_defaults()->always_capture_default();
  AddWorkloadFlags(command, flags.workload);
  AddLoad(command, flags);
  AddLength(command, flags);
  AddOutput(command, flags);
}

absl::Status CheckTogether(const CLI::App& command, const LoadFlags& flags) {
  const auto given = [&command](const char* flag) { return command.count(flag) > 0; };
  if (given("--compare")) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->count() == 0 || option->check_name("--compare")) continue;
      return WrongUsage(option->get_name(), "not with --compare, which puts no load on");
    }
    return absl::OkStatus();
  }
  GDNPLAN_RETURN_IF_ERROR(CheckTogether(command, flags.workload));
  const bool swept = given("--sweep");
  const bool sweeps_rate = flags.sweep.starts_with(std::string(kRate) + "=");
  const bool open = flags.rate > 0 || sweeps_rate;
  const struct {
    const char* flag;
    bool senseless;
    const char* reason;
  } kRules[] = {
      {"--paced", flags.paced && flags.workload.trace.empty(), "needs --trace, which says when"},
      {"--paced", flags.paced && open, "not with a rate: the trace says when"},
      {"--poisson", flags.poisson && !open, "needs --rate"},
      {"--rate", swept, "not with --sweep, which says it, or is of a closed loop"},
      {"--concurrency", swept, "not with --sweep, which says it, or is of an open loop"},
      {"--sweep", swept && flags.paced, "not with --paced: the trace says when"},
      {"--concurrency", open || flags.paced,
       "is of closed loops, not of --rate or --paced: requests start whatever is under way"},
      {"--poll", flags.transport == "unary", "is of streams, not of --transport=unary"},
      {"--max-windows", flags.stable_percent <= 0, "needs --stable"},
      {"--stable", flags.stable_percent > 0 && flags.workload.once,
       "not with --once: the trace has one window"},
      {"--warmup", flags.workload.once && flags.warm_up() > 0,
       "not with --once, for which every step counts"},
      {"--mismatch-dir", flags.verify == "none", "not with --verify=none, which finds none"},
      {"--csv", swept, "not with --sweep, which writes --json only"},
      {"--html", swept, "not with --sweep, which writes --json only"},
  };
  for (const auto& [flag, senseless, reason] : kRules) {
    if (given(flag) && senseless) return WrongUsage(flag, reason);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LoadToRun>> LoadsOf(const LoadFlags& flags) {
  std::vector<LoadToRun> loads;
  if (flags.sweep.empty()) {
    loads.push_back({.flags = flags, .options = {}, .value = {}});
  } else {
    GDNPLAN_ASSIGN_OR_RETURN(const Sweep sweep, ParseSweep(flags.sweep));
    for (size_t i = 0; i < sweep.values.size(); ++i) {
      LoadToRun& load = loads.emplace_back();
      load = {.flags = flags, .options = {}, .value = sweep.texts[i]};
      if (sweep.parameter == kRate) {
        load.flags.rate = sweep.values[i];
      } else {
        load.flags.concurrency = static_cast<int>(sweep.values[i]);
      }
    }
  }
  GDNPLAN_ASSIGN_OR_RETURN(const auto sources, SourcesOf(flags));
  for (LoadToRun& load : loads) {
    load.options = OptionsOf(load.flags);
    load.options.source = sources;
    GDNPLAN_RETURN_IF_ERROR(AsWrongUsage(load::LoadRun::Check(load.options)));
  }
  return loads;
}

std::string SweptParameter(const LoadFlags& flags) {
  return flags.sweep.substr(0, flags.sweep.find('='));
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
                     {"warmup_s", flags.warm_up()},
                     {"stable_percent", flags.stable_percent},
                     {"max_windows", flags.max_windows},
                     {"verify", flags.verify}});
  if (flags.gates.max_p99_us) parameters["max_p99_us"] = *flags.gates.max_p99_us;
  if (flags.gates.min_rate) parameters["min_rate"] = *flags.gates.min_rate;
  if (flags.gates.max_errors) parameters["max_errors"] = *flags.gates.max_errors;
  return parameters;
}

}  // namespace gdnplan::tool
