// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/client/load/checked_replay.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "client/load/random.h"
#include "gdnplan/plan/plan_math.h"
#include "gdnplan/plan/validate.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using test::IsOk;

template <typename T>
uint64_t HashArray(const std::vector<T>& values, uint64_t hash) {
  hash = MixBits(hash, values.size());
  for (const T value : values) hash = MixBits(hash, static_cast<uint64_t>(value));
  return hash;
}

// In the order in which engines sort rows.
int32_t KindOf(const ScheduledRow& row, int32_t columns) {
  if (!row.prefilling) return 0;
  if (row.computed == 0) return 3;
  return row.len <= columns ? 1 : 2;
}

}  // namespace

uint64_t HashOf(const Step& step, uint64_t hash) {
  const json::OwnedBatch& batch = step.batch;
  hash = HashArray(batch.query_start_loc, hash);
  hash = HashArray(batch.seq_lens, hash);
  hash = HashArray(batch.is_prefilling, hash);
  hash = HashArray(batch.num_decode_draft_tokens, hash);
  hash = HashArray(batch.num_accepted_tokens, hash);
  for (const json::OwnedBlockTable& table : batch.block_tables) {
    hash = HashArray(table.block_ids, hash);
  }
  hash = MixBits(hash, static_cast<uint64_t>(batch.num_actual_tokens.value_or(-1)));
  return MixBits(hash, std::bit_cast<uint64_t>(step.due_s));
}

CheckedReplay::CheckedReplay(Scheduler& scheduler, const SchedulerOptions& options,
                             std::vector<Request> requests)
    : scheduler_(scheduler),
      options_(options),
      requests_(std::move(requests)),
      planner_(scheduler.config()),
      progress_(requests_.size()),
      block_used_in_(static_cast<size_t>(options.num_blocks) + 1, -1) {}

void CheckedReplay::Run(int64_t max_steps) {
  Step step;
  while (step_ < max_steps && scheduler_.Next(step)) {
    CheckStep(step);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "in step " << step_;
      return;
    }
    hash_ = HashOf(step, hash_);
    ++step_;
  }
  if (step_ < max_steps) CheckEnd();
}

void CheckedReplay::CheckStep(const Step& step) {
  CheckLimits(step.batch);
  const plan::BatchView view = step.batch.view();
  ASSERT_THAT(plan::ValidateBatch(scheduler_.config(), view), IsOk());
  ASSERT_THAT(planner_.Plan(view), IsOk());
  CheckPadding(step.batch);
  CheckOrder();
  CheckBlocks(step.batch);
  CheckProgress(step);
}

void CheckedReplay::CheckLimits(const json::OwnedBatch& batch) const {
  EXPECT_GE(scheduler_.rows().size(), 1u);
  EXPECT_LE(batch.seq_lens.size(), static_cast<size_t>(options_.max_num_seqs));
  EXPECT_LE(*batch.num_actual_tokens, options_.max_num_batched_tokens);
  if (options_.long_prefill_threshold == 0) return;
  for (const ScheduledRow& row : scheduler_.rows()) {
    EXPECT_TRUE(!row.prefilling || row.len <= options_.long_prefill_threshold) << row.len;
  }
}

void CheckedReplay::CheckPadding(const json::OwnedBatch& batch) {
  const auto rows = scheduler_.rows();
  const bool prefills =
      std::any_of(rows.begin(), rows.end(), [](const ScheduledRow& row) { return row.prefilling; });
  const bool decodes = std::any_of(rows.begin(), rows.end(),
                                   [](const ScheduledRow& row) { return !row.prefilling; });
  if (prefills && decodes) ++mixed_steps_;
  const int32_t tokens = batch.query_start_loc.back();
  const std::vector<int32_t> sizes = CaptureSizes(scheduler_.config());
  const auto size = std::lower_bound(sizes.begin(), sizes.end(), tokens);
  if (prefills || !options_.use_full_cuda_graph || size == sizes.end()) {
    EXPECT_EQ(batch.seq_lens.size(), rows.size());
    EXPECT_EQ(*batch.num_actual_tokens, tokens);
    return;
  }
  EXPECT_EQ(*batch.num_actual_tokens, *size);
  EXPECT_EQ(static_cast<int32_t>(batch.seq_lens.size()) * scheduler_.config().state_columns(),
            *size);
  EXPECT_NE(planner_.input().counts.staging, plan::Staging::kNone);
  if (batch.seq_lens.size() > rows.size()) ++padded_steps_;
  for (size_t i = rows.size(); i < batch.seq_lens.size(); ++i) {
    EXPECT_EQ(batch.query_start_loc[i + 1], tokens);
    EXPECT_EQ(batch.seq_lens[i], 0);
  }
}

void CheckedReplay::CheckOrder() const {
  const int32_t columns = scheduler_.config().state_columns();
  const auto rows = scheduler_.rows();
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return KindOf(a, columns) < KindOf(b, columns);
  }));
}

// The states that a plan reads are the request's own, and nobody else's.
void CheckedReplay::CheckBlocks(const json::OwnedBatch& batch) {
  const bool align = options_.mamba_cache_mode == plan::MambaCacheMode::kAlign;
  const auto rows = scheduler_.rows();
  for (const json::OwnedBlockTable& table : batch.block_tables) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const int32_t first =
          plan::FirstStateColumn(batch.seq_lens[i], align ? options_.block_size : 0);
      for (int32_t j = 0; j < scheduler_.config().state_columns(); ++j) {
        const int32_t block =
            table.block_ids[i * static_cast<size_t>(table.width) + static_cast<size_t>(first + j)];
        ASSERT_GE(block, 1);
        ASSERT_LE(block, options_.num_blocks);
        EXPECT_EQ(scheduler_.pool().owner(block), rows[i].request);
        int64_t& used_in = block_used_in_[static_cast<size_t>(block)];
        EXPECT_NE(used_in, step_) << "block " << block << " twice";
        used_in = step_;
      }
    }
  }
}

void CheckedReplay::CheckProgress(const Step& step) {
  EXPECT_GE(step.due_s, last_due_s_);
  last_due_s_ = step.due_s;
  for (const ScheduledRow& row : scheduler_.rows()) {
    const Request& request = requests_[static_cast<size_t>(row.request)];
    EXPECT_GE(step.due_s, request.arrival_s / options_.speed);
    EXPECT_GE(row.len, 1);
    longest_row_ = std::max(longest_row_, row.len);
    Progress& progress = progress_[static_cast<size_t>(row.request)];
    const ScheduledRow& last = progress.last;
    const int32_t end = request.prompt_tokens + request.output_tokens - 1;
    EXPECT_LT(row.computed, end);
    // Preempted, a request may find more or less in the cache than it had computed.
    const bool from_cache =
        options_.prefix_rate > 0 && last.prefilling && row.computed != last.computed + last.len;
    if (!progress.began || row.computed <= last.computed || from_cache) {
      // From the beginning, or what the prefix cache has.
      EXPECT_TRUE(row.prefilling);
      EXPECT_TRUE(options_.prefix_rate > 0 || row.computed == 0) << row.computed;
      EXPECT_EQ(row.computed % options_.block_size, 0);
      EXPECT_LT(row.computed, request.prompt_tokens);
      if (progress.began) ++restarts_;
    } else if (last.prefilling) {
      EXPECT_EQ(row.computed, last.computed + last.len);
      EXPECT_EQ(row.num_accepted_tokens, 1);
    } else {
      EXPECT_FALSE(row.prefilling);
      EXPECT_EQ(row.num_accepted_tokens, row.computed - last.computed);
    }
    EXPECT_TRUE(row.prefilling || row.computed >= request.prompt_tokens) << row.computed;
    progress = {row, true};
  }
}

void CheckedReplay::CheckEnd() const {
  const SchedulerStats& stats = scheduler_.stats();
  int64_t computed = 0;
  int64_t outputs = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    const int32_t end = request.prompt_tokens + request.output_tokens - 1;
    computed += end;
    outputs += request.output_tokens;
    const ScheduledRow& last = progress_[i].last;
    EXPECT_TRUE(progress_[i].began) << "request " << i;
    EXPECT_GE(last.computed + last.len, end) << "request " << i;
  }
  EXPECT_EQ(stats.steps, step_);
  EXPECT_EQ(stats.finished_requests, static_cast<int64_t>(requests_.size()));
  EXPECT_EQ(stats.output_tokens, outputs);
  EXPECT_EQ(stats.prefill_tokens + stats.cached_tokens + stats.decode_tokens - stats.lost_tokens,
            computed);
  if (options_.prefix_rate == 0) {
    EXPECT_EQ(stats.cached_tokens, 0);
    EXPECT_EQ(restarts_, stats.preemptions);
  }
  EXPECT_EQ(scheduler_.pool().num_free(), options_.num_blocks);
}

}  // namespace gdnplan::load
