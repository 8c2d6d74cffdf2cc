// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Random batches are worth something only while every kind of batch is among them.
#include "tests/testing/random_batch.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "tests/testing/reference_plan.h"

namespace gdnplan::test {
namespace {

using plan::BatchView;
using plan::PlanConfig;
using plan::TensorId;

bool HasPaddedRowInTheMiddle(const BatchView& batch) {
  bool padded = false;
  for (size_t i = 0; i < batch.seq_lens.size(); ++i) {
    const bool empty = batch.query_start_loc[i + 1] == batch.query_start_loc[i];
    if (padded && !empty) return true;
    padded = empty;
  }
  return false;
}

void Count(const PlanConfig& config, const BatchView& batch, std::map<std::string, int>& seen) {
  const ReferencePlan plan = MakeReferencePlan(config, batch);
  const plan::PlanCounts& counts = plan.counts;
  const bool speculative = counts.num_spec_decodes > 0;
  const bool full = config.use_full_cuda_graph;
  const auto count = [&seen](const char* what, bool is) { seen[what] += is ? 1 : 0; };
  const int32_t tokens = batch.query_start_loc.back();
  count("staged decode", counts.staging == plan::Staging::kDecode);
  count("staged speculative", counts.staging == plan::Staging::kSpecDecode);
  count("decodes over the capture limit",
        full && !speculative && counts.num_prefills == 0 && counts.staging == plan::Staging::kNone);
  count("speculative over the capture limit",
        full && speculative && counts.num_prefills == 0 && counts.staging == plan::Staging::kNone);
  count("prefills behind decodes",
        !speculative && counts.num_prefills > 0 && counts.num_decodes > 0);
  count("prefills alone", !speculative && counts.num_prefills > 0 && counts.num_decodes == 0);
  count("speculative beside prefills", speculative && counts.num_prefills > 0);
  count("speculative, uniform", counts.uniform_spec_sequence_length > 0);
  count("speculative, ragged", speculative && counts.uniform_spec_sequence_length == 0);
  count("drafts without speculative work", !batch.num_decode_draft_tokens.empty() && !speculative);
  count("no drafts though K > 0",
        batch.num_decode_draft_tokens.empty() && config.num_speculative_tokens > 0);
  count("no prefilling flags", batch.is_prefilling.empty());
  count("capture, plain", batch.kind == plan::BatchKind::kCudagraphCapture && !speculative);
  count("capture, speculative", batch.kind == plan::BatchKind::kCudagraphCapture && speculative);
  count("padded row in the middle", HasPaddedRowInTheMiddle(batch));
  count("nothing but padded rows", tokens == 0);
  count("token padding", counts.num_actual_tokens > tokens);
  count("as many rows as possible", batch.num_rows() == config.max_num_seqs);
  count("as many tokens as possible", tokens == config.max_num_batched_tokens);
  count("many conv programs", counts.num_conv_programs > 128);
  count("cutedsl rows past the last chunk", [&] {
    const auto chunks = plan.Find(TensorId::kChunkIndices, 0);
    return chunks.has_value() && !chunks->data.empty() && chunks->data.back() == kUnspecified;
  }());
  count("several groups, aligned", [&] {
    return config.groups.size() > 1 &&
           config.groups[1].mamba_cache_mode == plan::MambaCacheMode::kAlign;
  }());
}

TEST(RandomBatchTest, HasEveryKindOfBatch) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const PlanConfig config = RandomConfig(random);
    for (int b = 0; b < 10; ++b) {
      const json::OwnedBatch batch = RandomBatch(config, random);
      Count(config, batch.view(), seen);
    }
  }
  // Of 2,000.
  for (const auto& [kind, times] : seen) EXPECT_GE(times, 10) << kind;
}

TEST(RandomBatchTest, SameSeedSameBatch) {
  Random one(7);
  Random two(7);
  const PlanConfig config = RandomConfig(one);
  const PlanConfig same = RandomConfig(two);
  EXPECT_EQ(config.max_num_seqs, same.max_num_seqs);
  EXPECT_EQ(RandomBatch(config, one).query_start_loc, RandomBatch(same, two).query_start_loc);
}

}  // namespace
}  // namespace gdnplan::test
