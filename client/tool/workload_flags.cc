// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/workload_flags.h"

#include <CLI/CLI.hpp>
#include <string>

#include "client/tool/usage.h"
#include "gdnplan/plan/names.h"
#include "wire/flag_range.h"

namespace gdnplan::tool {
namespace {

using plan::MambaCacheMode;

// What the simulated scheduler alone reads.
constexpr const char* kOfTraces[] = {"--once",
                                     "--max-num-seqs",
                                     "--max-num-batched-tokens",
                                     "--num-speculative-tokens",
                                     "--acceptance-rate",
                                     "--full-cuda-graph",
                                     "--max-cudagraph-capture-size",
                                     "--long-prefill-threshold",
                                     "--groups",
                                     "--mamba-cache-mode",
                                     "--num-blocks",
                                     "--block-size",
                                     "--prefix-rate",
                                     "--prefix-fraction",
                                     "--prefix-families",
                                     "--speed",
                                     "--step-ms",
                                     "--step-us-per-token"};

// The scheduler checks narrower ranges, and names them.
template <typename T>
CLI::Option* AddNumber(CLI::App& command, const char* flag, T& value, const char* what) {
  return command.add_option(flag, value, what)->check(wire::IsNumber<T>());
}

}  // namespace

void AddWorkloadFlags(CLI::App& command, load::WorkloadOptions& options) {
  load::SchedulerOptions& scheduler = options.scheduler;
  CLI::Option* shape =
      command.add_option("--shape", options.shapes,
                         "Steps of a fixed shape; several take turns (default: decode=256)");
  shape->type_name("SPEC")->allow_extra_args(false);
  command.add_option("--trace", options.trace, "Requests for the simulated scheduler")
      ->type_name("FILE.csv");
  command.add_flag("--once", options.once, "End with the trace, instead of beginning it again");
  AddNumber(command, "--max-num-seqs", scheduler.max_num_seqs, "Rows of a step");
  AddNumber(command, "--max-num-batched-tokens", scheduler.max_num_batched_tokens,
            "Query tokens of a step");
  AddNumber(command, "--num-speculative-tokens", scheduler.num_speculative_tokens,
            "K, drafts of each decode");
  AddNumber(command, "--acceptance-rate", scheduler.acceptance_rate,
            "How likely each draft is accepted");
  command.add_flag("--full-cuda-graph,!--no-full-cuda-graph", scheduler.use_full_cuda_graph,
                   "Pad decode steps for graphs, as is done unless --no-full-cuda-graph is given");
  AddNumber(command, "--max-cudagraph-capture-size", scheduler.max_cudagraph_capture_size,
            "Largest graph");
  AddNumber(command, "--long-prefill-threshold", scheduler.long_prefill_threshold,
            "Prompt tokens of one request in a step. 0: as many as fit");
  AddNumber(command, "--groups", scheduler.groups, "KV-cache groups with GDN states");
  // Of the modes that there are, the simulated scheduler knows these.
  command
      .add_option_function<std::string>(
          "--mamba-cache-mode",
          [&scheduler](const std::string& name) {
            scheduler.mamba_cache_mode = plan::MambaCacheModeOf(name).value();
          },
          "none or align")
      ->check(wire::OneOf({plan::Name(MambaCacheMode::kNone), plan::Name(MambaCacheMode::kAlign)}))
      ->default_str(plan::Name(scheduler.mamba_cache_mode));
  AddNumber(command, "--num-blocks", scheduler.num_blocks, "Blocks of the KV cache");
  AddNumber(command, "--block-size", scheduler.block_size, "Tokens of a block");
  AddNumber(command, "--prefix-rate", scheduler.prefix_rate,
            "Part of the requests that share a prefix. 0: no prefix cache");
  AddNumber(command, "--prefix-fraction", scheduler.prefix_fraction, "How much of their prompt");
  AddNumber(command, "--prefix-families", scheduler.prefix_families, "How many prefixes there are");
  AddNumber(command, "--speed", scheduler.speed, "Arrivals come so many times as fast");
  AddNumber(command, "--step-ms", scheduler.step_ms, "A simulated step's time, and");
  AddNumber(command, "--step-us-per-token", scheduler.step_us_per_token, "for each of its tokens");
}

absl::Status CheckTogether(const CLI::App& command, const load::WorkloadOptions& options) {
  const auto given = [&command](const char* flag) { return command.count(flag) > 0; };
  const bool trace = given("--trace");
  if (trace && given("--shape"))
    return WrongUsage("--shape", "not with --trace, which makes steps");
  for (const char* flag : kOfTraces) {
    if (given(flag) && !trace) {
      return WrongUsage(flag, "needs --trace; a --shape says what it is itself");
    }
  }
  const load::SchedulerOptions& scheduler = options.scheduler;
  const struct {
    const char* flag;
    bool unread;
    const char* reason;
  } kRules[] = {
      {"--acceptance-rate", scheduler.num_speculative_tokens == 0,
       "needs --num-speculative-tokens: nothing is drafted"},
      {"--max-cudagraph-capture-size", !scheduler.use_full_cuda_graph,
       "not with --no-full-cuda-graph: nothing is captured"},
      {"--prefix-fraction", scheduler.prefix_rate == 0, "needs --prefix-rate"},
      {"--prefix-families", scheduler.prefix_rate == 0, "needs --prefix-rate"},
  };
  for (const auto& [flag, unread, reason] : kRules) {
    if (given(flag) && unread) return WrongUsage(flag, reason);
  }
  return absl::OkStatus();
}

nlohmann::ordered_json ParametersOf(const load::WorkloadOptions& options) {
  if (options.trace.empty()) {
    if (options.shapes.empty()) return {{"shape", load::kDefaultShape}};
    return {{"shape", options.shapes}};
  }
  const load::SchedulerOptions& scheduler = options.scheduler;
  return {{"trace", options.trace},
          {"once", options.once},
          {"max_num_seqs", scheduler.max_num_seqs},
          {"max_num_batched_tokens", scheduler.max_num_batched_tokens},
          {"num_speculative_tokens", scheduler.num_speculative_tokens},
          {"acceptance_rate", scheduler.acceptance_rate},
          {"use_full_cuda_graph", scheduler.use_full_cuda_graph},
          {"max_cudagraph_capture_size", scheduler.max_cudagraph_capture_size},
          {"long_prefill_threshold", scheduler.long_prefill_threshold},
          {"groups", scheduler.groups},
          {"mamba_cache_mode", plan::Name(scheduler.mamba_cache_mode)},
          {"num_blocks", scheduler.num_blocks},
          {"block_size", scheduler.block_size},
          {"prefix_rate", scheduler.prefix_rate},
          {"prefix_fraction", scheduler.prefix_fraction},
          {"prefix_families", scheduler.prefix_families},
          {"speed", scheduler.speed},
          {"step_ms", scheduler.step_ms},
          {"step_us_per_token", scheduler.step_us_per_token}};
}

}  // namespace gdnplan::tool
