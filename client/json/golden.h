// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Golden cases: batches with the plans that they must have. tests/golden/README.md has the format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/json/batch_json.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/counts.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::json {

// A tensor of a plan as read back; masks too are widened to int32.
struct TensorData {
  std::vector<int32_t> dims;
  std::vector<int32_t> data;  // row by row
};

struct ExpectedTensor {
  std::vector<int32_t> dims;
  std::vector<int32_t> data;
  // The value of every element past `data`; absent: `data` is all there is.
  std::optional<int32_t> fill;
};

// nums_dict: the conv programs as the engine's host code reads them.
struct ExpectedConv {
  std::vector<int32_t> nums;        // programs per row
  std::vector<int32_t> mlist;       // the used part of batch_ptr
  std::vector<int32_t> offsetlist;  // the used part of token_chunk_offset_ptr
  int32_t tot = 0;
  int32_t mlist_len = 0;
};

// The plan as one group's layers see it.
struct ExpectedGroup {
  // All but num_conv_programs, which is `conv`'s, and staging, which golden cases do not have.
  plan::PlanCounts counts;
  std::array<std::optional<ExpectedTensor>, plan::kNumTensors> tensors;  // kNums: see `conv`
  std::optional<ExpectedConv> conv;

  const std::optional<ExpectedTensor>& operator[](plan::TensorId id) const {
    return tensors[static_cast<size_t>(id)];
  }
};

struct ExpectedUpdate {
  OwnedBlockTable table;   // the new table of group 0
  ExpectedGroup expected;  // group 0 after the re-gather
};

struct GoldenCase {
  std::string name;
  plan::PlanConfig config;
  OwnedBatch batch;
  std::vector<ExpectedGroup> expected;  // one per group
  std::optional<ExpectedUpdate> update_block_table;
};

// InvalidArgument naming the JSON path.
absl::StatusOr<GoldenCase> ReadGoldenCase(const nlohmann::json& document);

// A file with one case a line. NotFound when it cannot be read; InvalidArgument naming file, line
// and JSON path; a file without cases is an error too.
absl::StatusOr<std::vector<GoldenCase>> ReadGoldenFile(const std::string& path);

// One tensor of the plan under test; nullopt: absent. A shared tensor is asked for with every
// group.
using TensorReader = std::function<std::optional<TensorData>(plan::TensorId, int32_t group)>;

// What differs, in words ("nums[3] of group 0: got 2, want 1"); empty: nothing. At most
// `max_mismatches` are listed. `expected` begins with group 0; for an ExpectedUpdate it is that one
// group.
std::vector<std::string> CompareWithGolden(std::span<const ExpectedGroup> expected,
                                           const plan::PlanCounts& counts,
                                           const TensorReader& reader, size_t max_mismatches = 8);

}  // namespace gdnplan::json
