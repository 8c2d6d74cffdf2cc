// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The host's part of a plan, without any transport: validation, counts and extents; the fill in
// host memory; the packed input of the kernel fill.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/host_fill.h"
#include "gdnplan/plan/pack_step.h"
#include "gdnplan/plan/step_planner.h"
#include "tests/bench/shapes.h"

namespace gdnplan::bench {
namespace {

// Batches of one shape, in turn, so that no branch predictor learns one by heart.
class Steps {
 public:
  explicit Steps(const Shape& shape) : planner_(ShapedBatch::Config(shape)) {
    for (uint32_t seed = 1; seed <= 8; ++seed) batches_.emplace_back(shape, seed);
  }
  // The next batch, planned.
  plan::StepPlanner& Plan() {
    const plan::BatchView batch = batches_[next_++ % batches_.size()].view();
    if (!planner_.Plan(batch).ok()) std::abort();
    return planner_;
  }

 private:
  plan::StepPlanner planner_;
  std::vector<ShapedBatch> batches_;
  size_t next_ = 0;
};

struct Freer {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Freer>;

Memory Allocate(size_t bytes) {
  constexpr size_t kPage = 4096;
  return Memory(
      static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)));
}

void CountsAndExtents(benchmark::State& state, const Shape& shape) {
  Steps steps(shape);
  for (auto _ : state) benchmark::DoNotOptimize(&steps.Plan().layout());
}

void HostFill(benchmark::State& state, const Shape& shape) {
  Steps steps(shape);
  const auto layout = plan::ArenaLayout::Create(ShapedBatch::Config(shape), 1);
  if (!layout.ok()) std::abort();
  const Memory slot = Allocate(static_cast<size_t>(layout->slot.slot_bytes));
  plan::InitializeSlot(layout->slot, slot.get());
  plan::ConvReach reach;
  for (auto _ : state) {
    const plan::StepPlanner& planned = steps.Plan();
    plan::FillSlot(planned.input(), planned.layout(), slot.get(), reach);
    benchmark::ClobberMemory();
  }
}

void PackForKernel(benchmark::State& state, const Shape& shape) {
  Steps steps(shape);
  const Memory packed = Allocate(plan::PackedStepBytes(ShapedBatch::Config(shape)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan::PackStep(steps.Plan().input(), -1, packed.get()));
  }
}

void Register() {
  std::vector<Shape> shapes = StandardShapes();
  for (const int32_t rows : {1, 16, 64, 256, 1024}) {
    shapes.push_back({.name = std::to_string(rows) + " decodes, by rows", .decodes = rows});
  }
  for (const Shape& shape : shapes) {
    benchmark::RegisterBenchmark(("counts and extents/" + shape.name).c_str(), CountsAndExtents,
                                 shape);
    benchmark::RegisterBenchmark(("and host fill/" + shape.name).c_str(), HostFill, shape);
    benchmark::RegisterBenchmark(("and packed for the kernel/" + shape.name).c_str(), PackForKernel,
                                 shape);
  }
}

}  // namespace
}  // namespace gdnplan::bench

int main(int argc, char** argv) {
  gdnplan::bench::Register();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
