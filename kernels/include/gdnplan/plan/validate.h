// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Refusing what cannot be planned, before anything is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::plan {

// InvalidArgument naming the field, index, value and limit of the first thing that is wrong.
// `config` must be valid. Reads O(rows * groups * (1 + K)) elements, and of a table only those that
// a plan reads: a row of query length 0 may hold anything. Does not allocate when the batch is
// fine.
absl::Status ValidateBatch(const PlanConfig& config, const BatchView& batch);

// How an error names a block table: "name.member", or "name[index].member" where index is given.
struct TableField {
  std::string_view name;
  int32_t index = -1;
  std::string Path(std::string_view member) const;
};

// The part of the above that concerns one group's table, for rows of the given query_start_loc [R +
// 1] and seq_lens [R], which have been validated before.
absl::Status ValidateBlockTable(const PlanConfig& config, int32_t group,
                                std::span<const int32_t> query_start_loc,
                                std::span<const int32_t> seq_lens, const BlockTableView& table,
                                TableField field);

}  // namespace gdnplan::plan
