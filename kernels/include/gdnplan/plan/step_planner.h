// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// From a batch to counts, staging and every tensor's extent, on the host in O(rows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_input.h"

namespace gdnplan::plan {

// Holds one planned step. A slot has its own planner, so that the step it holds can be re-gathered
// later. Not thread safe. Allocates when made and never after.
class StepPlanner {
 public:
  // Bytes of memory that a planner's arrays take.
  static size_t ScratchBytes(const PlanConfig& config);

  // `config` must be valid. `scratch`: ScratchBytes(config) bytes, aligned to 64 and outliving the
  // planner (pinned memory, say); empty: the planner's own.
  explicit StepPlanner(const PlanConfig& config, std::span<std::byte> scratch = {});
  StepPlanner(StepPlanner&&) = default;
  StepPlanner& operator=(StepPlanner&&) = default;

  // Validates and classifies. On success input() and layout() describe the batch; on
  // InvalidArgument they still describe the step before. The batch's arrays are copied, but its
  // block tables are not: input() points into them, and they must outlive the fill.
  absl::Status Plan(const BatchView& batch);

  // Replaces one group's table for the planned step (see FillGroupStates). InvalidArgument names
  // "group" or a member of "block_table"; FailedPrecondition before the first step. The table is
  // not copied.
  absl::Status Regather(int32_t group, const BlockTableView& table);

  const PlanConfig& config() const { return config_; }
  const SlotLayout& slot_layout() const { return slot_layout_; }
  bool has_step() const { return input_.num_rows > 0; }
  const StepInput& input() const { return input_; }
  const PlanLayout& layout() const { return layout_; }

 private:
  struct Arrays {
    int32_t* query_start_loc;
    int32_t* seq_lens;
    int32_t* num_accepted_tokens;
    int32_t* spec_rows;
    int32_t* non_spec_rows;
    int32_t* spec_query_start_loc;
    int32_t* non_spec_query_start_loc;
    int32_t* chunk_offsets;
    int32_t* conv_offsets;
    int32_t* empty_rows;
    uint8_t* spec_sequence_masks;
  };

  void CopyBatch(const BatchView& batch);
  bool HasSpeculativeWork(const BatchView& batch) const;
  void ClassifyPlain(const BatchView& batch);
  void ClassifySpeculative();
  void SetSpeculativeStaging();
  void SetPrefills();
  void SetEmptyRows();
  void SetLayout();

  PlanConfig config_;
  SlotLayout slot_layout_;
  std::vector<std::byte> own_scratch_;
  Arrays arrays_;
  std::vector<GroupInput> groups_;
  StepInput input_;
  PlanLayout layout_;
};

}  // namespace gdnplan::plan
