// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Steps of fixed shapes, over and over, with random contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/random.h"
#include "client/load/shape.h"
#include "client/load/step_source.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::load {

struct ShapeOptions {
  // In turn, each as often as its weight says. K and groups come from them.
  std::vector<Shape> shapes;
  // 0: as usual, or what the largest shape needs.
  int32_t max_num_seqs = 0;
  int32_t max_num_batched_tokens = 0;
  UsualSize usual;
  bool use_full_cuda_graph = true;
  std::optional<int32_t> max_cudagraph_capture_size;
  plan::PrefillBackend prefill_backend = plan::PrefillBackend::kTriton;
  int32_t chunk_size = 64;
  uint64_t seed = 1;
};

// Never ends, and every step is due at once: a shape has no clock. Block ids, lengths of what was
// computed before and accepted tokens are random; prefills are fresh.
class ShapeSource : public StepSource {
 public:
  // InvalidArgument: no shapes, shapes that contradict each other, or that are over a limit.
  static absl::StatusOr<std::unique_ptr<ShapeSource>> Create(const ShapeOptions& options);

  const plan::PlanConfig& config() const override { return config_; }
  bool Next(Step& step) override;
  uint64_t max_batch_bytes() const override;

 private:
  ShapeSource(const ShapeOptions& options, plan::PlanConfig config);

  void AddRows(int32_t rows, int32_t len, bool speculative, bool prefilling,
               json::OwnedBatch& batch);
  void FillTable(const plan::GroupConfig& group, json::OwnedBatch& batch,
                 json::OwnedBlockTable& table);

  std::vector<Shape> shapes_;
  plan::PlanConfig config_;
  Random random_;
  size_t shape_ = 0;
  int32_t steps_of_shape_ = 0;
};

}  // namespace gdnplan::load
