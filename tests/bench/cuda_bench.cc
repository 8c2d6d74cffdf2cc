// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a plan costs on a GPU without the network: the CPU's time from a parsed batch to the
// enqueued fill, and from there until the CPU sees that the bytes and `ready` are written. (A
// stream of this process could not tell: beside a busy neighbour it waits for a time slice, which
// the engine's own stream does not.) One line a case; --json for machines.
#include <cuda_runtime_api.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "gdnplan/cuda/fill_launch.h"
#include "gdnplan/cuda/status.h"
#include "gdnplan/cuda/stream.h"
#include "gdnplan/plan/status.h"
#include "server/boot.h"
#include "server/cuda_arena.h"
#include "server/slot_ring.h"
#include "tests/bench/measure.h"
#include "tests/bench/shapes.h"

namespace gdnplan::bench {
namespace {

struct Options {
  int steps = 2000;
  int warm_up = 200;
  int pause_us = 30;  // between steps: the device is done with the one before
  server::FillMode fill = server::FillMode::kAuto;
  server::TimelinePlace timeline = server::TimelinePlace::kArena;
  bool json = false;
};

absl::Status RunShape(const Shape& shape, const Options& options, const cuda::GpuInfo& gpu,
                      server::Boot& boot) {
  const plan::PlanConfig config = ShapedBatch::Config(shape);
  GDNPLAN_ASSIGN_OR_RETURN(const plan::ArenaLayout layout, plan::ArenaLayout::Create(config, 1));
  GDNPLAN_ASSIGN_OR_RETURN(
      std::unique_ptr<server::CudaArena> arena,
      server::CudaArena::Create(gpu,
                                {.config = config, .layout = layout, .timeline = options.timeline},
                                options.fill, boot));
  const server::CudaArena& device = *arena;
  std::vector<server::SessionArena> arenas;
  arenas.push_back({gpu.uuid, std::move(arena)});
  server::SlotRing ring(config, layout, /*guarded=*/false, std::move(arenas));

  std::vector<ShapedBatch> batches;
  for (uint32_t seed = 1; seed <= 8; ++seed) batches.emplace_back(shape, seed);
  std::vector<double> enqueue;
  std::vector<double> until_ready;
  const char* fill = "";
  for (int step = 0; step < options.warm_up + options.steps; ++step) {
    const plan::BatchView batch = batches[static_cast<size_t>(step) % batches.size()].view();
    const Clock::time_point start = Clock::now();
    GDNPLAN_ASSIGN_OR_RETURN(const server::PlanResult result, ring.Plan(batch));
    const Clock::time_point enqueued = Clock::now();
    while (device.progress() < result.timeline_value) {
    }
    const Clock::time_point passed = Clock::now();
    if (step >= options.warm_up) {
      enqueue.push_back(Microseconds(enqueued - start));
      until_ready.push_back(Microseconds(passed - enqueued));
    }
    fill = result.fill == server::FillKind::kKernel ? "kernel" : "copy";
    std::this_thread::sleep_for(std::chrono::microseconds(options.pause_us));
  }
  const Percentiles cpu = Summarize(enqueue);
  const Percentiles gpu_time = Summarize(until_ready);
  if (options.json) {
    const nlohmann::json row = {
        {"shape", shape.name},
        {"gpu", gpu.name},
        {"mps", gpu.mps},
        {"fill", fill},
        {"timeline", options.timeline == server::TimelinePlace::kArena ? "arena" : "page"},
        {"steps", options.steps},
        {"enqueue_us_median", cpu.median_us},
        {"enqueue_us_p99", cpu.p99_us},
        {"ready_us_median", gpu_time.median_us},
        {"ready_us_p99", gpu_time.p99_us}};
    std::printf("%s\n", row.dump().c_str());
  } else {
    std::printf("%-28s %-6s enqueue %6.1f us (p99 %7.1f)   then ready %8.1f us (p99 %8.1f)\n",
                shape.name.c_str(), fill, cpu.median_us, cpu.p99_us, gpu_time.median_us,
                gpu_time.p99_us);
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  GDNPLAN_ASSIGN_OR_RETURN(const std::vector<cuda::GpuInfo> gpus, cuda::ListGpus());
  GDNPLAN_ASSIGN_OR_RETURN(const std::shared_ptr<server::Boot> boot, server::Boot::Create());
  GDNPLAN_CUDA_RETURN_IF_ERROR(cuda::PrepareFill());
  if (!options.json) {
    std::printf("%s, MPS %s, %d steps a case\n", gpus[0].name.c_str(), gpus[0].mps ? "on" : "off",
                options.steps);
  }
  for (const Shape& shape : StandardShapes()) {
    GDNPLAN_RETURN_IF_ERROR(RunShape(shape, options, gpus[0], *boot));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace gdnplan::bench

int main(int argc, char** argv) {
  using gdnplan::server::FillMode;
  using gdnplan::server::TimelinePlace;
  CLI::App app("Times plans on the first GPU, without the network");
  gdnplan::bench::Options options;
  const std::map<std::string, FillMode> fills = {
      {"auto", FillMode::kAuto}, {"copy", FillMode::kCopy}, {"kernel", FillMode::kKernel}};
  const std::map<std::string, TimelinePlace> places = {{"arena", TimelinePlace::kArena},
                                                       {"page", TimelinePlace::kHostPage}};
  app.add_option("--steps", options.steps, "measured steps a case")
      ->check(CLI::Range(1, 1000000))
      ->take_last();
  app.add_option("--pause-us", options.pause_us, "sleep between steps");
  app.add_option("--fill", options.fill, "how bytes reach the GPU")
      ->transform(CLI::CheckedTransformer(fills));
  app.add_option("--timeline", options.timeline, "where ready and consumed are")
      ->transform(CLI::CheckedTransformer(places));
  app.add_flag("--json", options.json, "one JSON object a case");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = gdnplan::bench::Run(options);
  if (!status.ok()) std::fprintf(stderr, "gdnplan-cuda-bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
