// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/workload_flags.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "gdnplan/plan/names.h"

namespace gdnplan::tool {
namespace {

using plan::MambaCacheMode;

// Of those that there are, the simulated scheduler knows these.
const std::map<std::string, MambaCacheMode> kModes = {
    {plan::Name(MambaCacheMode::kNone), MambaCacheMode::kNone},
    {plan::Name(MambaCacheMode::kAlign), MambaCacheMode::kAlign}};

}  // namespace

void AddWorkloadFlags(CLI::App& command, load::WorkloadOptions& options) {
  load::SchedulerOptions& scheduler = options.scheduler;
  CLI::Option* shape =
      command.add_option("--shape", options.shapes,
                         "Steps of a fixed shape; several take turns (default: decode=256)");
  shape->type_name("SPEC")->allow_extra_args(false);
  CLI::Option* trace =
      command.add_option("--trace", options.trace, "Requests for the simulated scheduler");
  trace->type_name("FILE.csv")->excludes(shape);
  command.add_flag("--once", options.once, "End with the trace, instead of beginning it again")
      ->needs(trace);
  // Ranges are checked by the scheduler, which names them.
  command.add_option("--max-num-seqs", scheduler.max_num_seqs, "Rows of a step");
  command.add_option("--max-num-batched-tokens", scheduler.max_num_batched_tokens,
                     "Query tokens of a step");
  command.add_option("--num-speculative-tokens", scheduler.num_speculative_tokens,
                     "K, drafts of each decode");
  command.add_option("--acceptance-rate", scheduler.acceptance_rate,
                     "How likely each draft is accepted");
  command.add_flag("--full-cuda-graph,!--no-full-cuda-graph", scheduler.use_full_cuda_graph,
                   "Pad decode steps for graphs");
  command.add_option("--max-cudagraph-capture-size", scheduler.max_cudagraph_capture_size,
                     "Largest graph");
  command.add_option("--long-prefill-threshold", scheduler.long_prefill_threshold,
                     "Prompt tokens of one request in a step. 0: as many as fit");
  command.add_option("--groups", scheduler.groups, "KV-cache groups with GDN states");
  command.add_option("--mamba-cache-mode", scheduler.mamba_cache_mode, "none or align")
      ->transform(CLI::CheckedTransformer(kModes).description(""))
      ->default_str(plan::Name(scheduler.mamba_cache_mode));
  command.add_option("--num-blocks", scheduler.num_blocks, "Blocks of the KV cache");
  command.add_option("--block-size", scheduler.block_size, "Tokens of a block");
  command.add_option("--prefix-rate", scheduler.prefix_rate,
                     "Part of the requests that share a prefix. 0: no prefix cache");
  command.add_option("--prefix-fraction", scheduler.prefix_fraction, "How much of their prompt");
  command.add_option("--prefix-families", scheduler.prefix_families, "How many prefixes there are");
  command.add_option("--speed", scheduler.speed, "Arrivals come so many times as fast");
  command.add_option("--step-ms", scheduler.base_ms, "A simulated step's time, and");
  command.add_option("--step-us-per-token", scheduler.per_token_us, "for each of its tokens");
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
          {"step_ms", scheduler.base_ms},
          {"step_us_per_token", scheduler.per_token_us}};
}

}  // namespace gdnplan::tool
