// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A batch and its configuration, for tests against a real server.
#pragma once

#include <array>
#include <cstdint>

#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::client {

// One decode and one prefill of 150 tokens, with two groups, whose state indices are `state`,
// state + 2, and ten times these.
class Batch {
 public:
  explicit Batch(int32_t state = 7)
      : first_{state, state + 2}, second_{10 * state, 10 * (state + 2)} {
    view_.query_start_loc = query_start_loc_;
    view_.seq_lens = seq_lens_;
    view_.is_prefilling = is_prefilling_;
    view_.block_tables = block_tables_;
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  const plan::BatchView& view() const { return view_; }

 private:
  std::array<int32_t, 3> query_start_loc_ = {0, 1, 151};
  std::array<int32_t, 2> seq_lens_ = {40, 150};
  std::array<uint8_t, 2> is_prefilling_ = {0, 1};
  std::array<int32_t, 2> first_;
  std::array<int32_t, 2> second_;
  std::array<plan::BlockTableView, 2> block_tables_ = {{{first_, 1}, {second_, 1}}};
  plan::BatchView view_;
};

inline plan::PlanConfig LiveConfig() {
  plan::PlanConfig config;
  config.max_num_seqs = 16;
  config.max_num_batched_tokens = 1024;
  config.groups.resize(2);
  return config;
}

}  // namespace gdnplan::client
