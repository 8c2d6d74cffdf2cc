// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What is refused, with which words, and what is just accepted.
#include "gdnplan/plan/validate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "gdnplan/plan/status.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::OwnedBatch;
using test::IsOk;
using test::StatusIs;

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min();

using Change = std::function<void(PlanConfig&, OwnedBatch&)>;

struct RefusedCase {
  const char* name;
  const char* message;
  Change change;
};

void PrintTo(const RefusedCase& refused, std::ostream* out) { *out << refused.name; }

// The field's path is what stands before the first ": ".
std::string FieldOf(const std::string& message) { return message.substr(0, message.find(": ")); }

std::string CaseName(const ::testing::TestParamInfo<RefusedCase>& info) { return info.param.name; }

class RefusedTest : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, NamesFieldIndexValueAndLimit) {
  PlanConfig config = test::SampleConfig();
  OwnedBatch batch = test::SampleBatch();
  GetParam().change(config, batch);
  const absl::Status status = ValidateBatch(config, batch.view());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
  const auto payload = status.GetPayload(ToAbsl(kFieldPayload));
  ASSERT_TRUE(payload.has_value());
  EXPECT_EQ(std::string(*payload), FieldOf(GetParam().message));
}

// After a refusal the planner still describes the step before.
TEST_P(RefusedTest, WritesNothing) {
  PlanConfig config = test::SampleConfig();
  OwnedBatch bad = test::SampleBatch();
  GetParam().change(config, bad);
  OwnedBatch good = test::SampleDecodes();
  if (config.max_num_seqs < 3) return;  // not even the batch before would fit
  good.seq_lens = {1, 1, 0};            // fits tables of any mode
  good.block_tables[0].width = config.state_columns();
  good.block_tables[0].block_ids.resize(static_cast<size_t>(3 * config.state_columns()));

  test::PlannedSlot slot(config);
  ASSERT_THAT(slot.Plan(good.view()), IsOk());
  const PlanLayout layout = slot.layout();
  const PlanCounts counts = slot.counts();
  const std::vector<std::byte> bytes(slot.slot().begin(), slot.slot().end());
  EXPECT_THAT(slot.Plan(bad.view()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(slot.layout(), layout);
  EXPECT_EQ(slot.counts(), counts);
  slot.Fill();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), slot.slot().begin()));
}

const RefusedCase kShapes[] = {
    {"empty", "seq_lens: the batch is empty; a batch has at least one row",
     [](auto&, OwnedBatch& b) { b = OwnedBatch(); }},
    {"too_many_rows", "seq_lens: the batch has 4 rows, over max_num_seqs 3",
     [](PlanConfig& c, auto&) { c.max_num_seqs = 3; }},
    {"query_start_loc_short",
     "query_start_loc: must have 5 elements, one more than seq_lens (got 4)",
     [](auto&, OwnedBatch& b) { b.query_start_loc.pop_back(); }},
    {"query_start_loc_long",
     "query_start_loc: must have 5 elements, one more than seq_lens (got 6)",
     [](auto&, OwnedBatch& b) { b.query_start_loc.push_back(9); }},
    {"query_start_loc_absent",
     "query_start_loc: must have 5 elements, one more than seq_lens (got 0)",
     [](auto&, OwnedBatch& b) { b.query_start_loc.clear(); }},
    {"is_prefilling_short", "is_prefilling: must have 4 elements, one per row (got 3)",
     [](auto&, OwnedBatch& b) { b.is_prefilling.pop_back(); }},
    {"drafts_short", "num_decode_draft_tokens: must have 4 elements, one per row (got 3)",
     [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens.pop_back(); }},
    {"drafts_long", "num_decode_draft_tokens: must have 4 elements, one per row (got 5)",
     [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens.push_back(-1); }},
    {"accepted_short", "num_accepted_tokens: must have 4 elements, one per row (got 3)",
     [](auto&, OwnedBatch& b) { b.num_accepted_tokens.pop_back(); }},
    {"accepted_long_without_drafts",
     "num_accepted_tokens: must have 4 elements, one per row (got 5)",
     [](auto&, OwnedBatch& b) {
       b.num_decode_draft_tokens.clear();
       b.num_accepted_tokens.push_back(1);
     }},
    {"table_missing", "block_tables: must have 2 elements, one per KV-cache group (got 1)",
     [](auto&, OwnedBatch& b) { b.block_tables.pop_back(); }},
    {"table_too_many", "block_tables: must have 2 elements, one per KV-cache group (got 3)",
     [](auto&, OwnedBatch& b) { b.block_tables.push_back(b.block_tables[0]); }},
};
INSTANTIATE_TEST_SUITE_P(Shapes, RefusedTest, ::testing::ValuesIn(kShapes), CaseName);

const RefusedCase kRows[] = {
    {"start_positive", "query_start_loc[0]: must be 0 (got 1)",
     [](auto&, OwnedBatch& b) { b.query_start_loc[0] = 1; }},
    {"start_negative", "query_start_loc[0]: must be 0 (got -2147483648)",
     [](auto&, OwnedBatch& b) { b.query_start_loc[0] = kMin; }},
    {"decreasing", "query_start_loc[2]: must not decrease (got 2 after 3)",
     [](auto&, OwnedBatch& b) { b.query_start_loc[2] = 2; }},
    {"decreasing_at_the_end", "query_start_loc[4]: must not decrease (got 8 after 9)",
     [](auto&, OwnedBatch& b) { b.query_start_loc[4] = 8; }},
    {"decreasing_by_more_than_an_int32",
     "query_start_loc[2]: must not decrease (got -2147483648 after 2147483647)",
     [](auto&, OwnedBatch& b) {
       b.query_start_loc = {0, kMax, kMin, 9, 9};
       b.seq_lens[0] = kMax;
     }},
    {"negative_after_zero", "query_start_loc[1]: must not decrease (got -1 after 0)",
     [](auto&, OwnedBatch& b) { b.query_start_loc[1] = -1; }},
    {"too_many_tokens", "query_start_loc[4]: the batch has 9 tokens, over max_num_batched_tokens 8",
     [](PlanConfig& c, auto&) { c.max_num_batched_tokens = 8; }},
    {"very_many_tokens",
     "query_start_loc[4]: the batch has 2147483647 tokens, over max_num_batched_tokens 32",
     [](auto&, OwnedBatch& b) {
       b.query_start_loc = {0, kMax, kMax, kMax, kMax};
       b.seq_lens[0] = kMax;
     }},
    {"sequence_short", "seq_lens[2]: must be at least the row's query length 5 (got 4)",
     [](auto&, OwnedBatch& b) { b.seq_lens[2] = 4; }},
    {"sequence_negative", "seq_lens[3]: must be at least the row's query length 0 (got -1)",
     [](auto&, OwnedBatch& b) { b.seq_lens[3] = -1; }},
    {"sequence_very_negative",
     "seq_lens[0]: must be at least the row's query length 3 (got -2147483648)",
     [](auto&, OwnedBatch& b) { b.seq_lens[0] = kMin; }},
    {"actual_short", "num_actual_tokens: must be at least query_start_loc[4] = 9 (got 8)",
     [](auto&, OwnedBatch& b) { b.num_actual_tokens = 8; }},
    {"actual_negative",
     "num_actual_tokens: must be at least query_start_loc[4] = 9 (got -2147483648)",
     [](auto&, OwnedBatch& b) { b.num_actual_tokens = kMin; }},
    {"actual_over", "num_actual_tokens: must be at most max_num_batched_tokens 32 (got 33)",
     [](auto&, OwnedBatch& b) { b.num_actual_tokens = 33; }},
    {"actual_far_over",
     "num_actual_tokens: must be at most max_num_batched_tokens 32 (got 2147483647)",
     [](auto&, OwnedBatch& b) { b.num_actual_tokens = kMax; }},
    {"flag_two", "is_prefilling[1]: must be 0 or 1 (got 2)",
     [](auto&, OwnedBatch& b) { b.is_prefilling[1] = 2; }},
    {"flag_most", "is_prefilling[3]: must be 0 or 1 (got 255)",
     [](auto&, OwnedBatch& b) { b.is_prefilling[3] = 255; }},
};
INSTANTIATE_TEST_SUITE_P(Rows, RefusedTest, ::testing::ValuesIn(kRows), CaseName);

const RefusedCase kSpeculation[] = {
    {"drafts_without_speculation",
     "num_decode_draft_tokens: must be absent, since the session's num_speculative_tokens is 0",
     [](PlanConfig& c, auto&) { c.num_speculative_tokens = 0; }},
    {"drafts_without_accepted",
     "num_accepted_tokens: must be given where num_decode_draft_tokens is (got none)",
     [](auto&, OwnedBatch& b) { b.num_accepted_tokens.clear(); }},
    {"drafts_over_k",
     "num_decode_draft_tokens[2]: must be at most num_speculative_tokens 2 (got 4)",
     [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens[2] = 4; }},
    {"drafts_most",
     "num_decode_draft_tokens[0]: must be at most num_speculative_tokens 2 (got 2147483647)",
     [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens[0] = kMax; }},
    {"drafts_fewer_than_tokens",
     "num_decode_draft_tokens[0]: must be the row's query length less 1, 2, or -1 (got 1)",
     [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens[0] = 1; }},
    {"drafts_more_than_tokens",
     "num_decode_draft_tokens[1]: must be the row's query length less 1, 0, or -1 (got 1)",
     [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens[1] = 1; }},
    {"accepted_none", "num_accepted_tokens[0]: must be in 1..3 (got 0)",
     [](auto&, OwnedBatch& b) { b.num_accepted_tokens[0] = 0; }},
    {"accepted_over", "num_accepted_tokens[0]: must be in 1..3 (got 4)",
     [](auto&, OwnedBatch& b) { b.num_accepted_tokens[0] = 4; }},
    {"accepted_least", "num_accepted_tokens[0]: must be in 1..3 (got -2147483648)",
     [](auto&, OwnedBatch& b) { b.num_accepted_tokens[0] = kMin; }},
    {"accepted_most", "num_accepted_tokens[0]: must be in 1..3 (got 2147483647)",
     [](auto&, OwnedBatch& b) { b.num_accepted_tokens[0] = kMax; }},
};
INSTANTIATE_TEST_SUITE_P(Speculation, RefusedTest, ::testing::ValuesIn(kSpeculation), CaseName);

const RefusedCase kTables[] = {
    {"narrow", "block_tables[0].width: must be at least 1 + num_speculative_tokens = 3 (got 2)",
     [](auto&, OwnedBatch& b) {
       b.block_tables[0] = {std::vector<int32_t>(8, 1), 2};
     }},
    {"no_width", "block_tables[1].width: must be at least 1 + num_speculative_tokens = 3 (got 0)",
     [](auto&, OwnedBatch& b) { b.block_tables[1] = {}; }},
    {"negative_width",
     "block_tables[1].width: must be at least 1 + num_speculative_tokens = 3 (got -2147483648)",
     [](auto&, OwnedBatch& b) { b.block_tables[1].width = kMin; }},
    {"ids_short", "block_tables[0].block_ids: must have 4 rows of width 3, 12 elements (got 11)",
     [](auto&, OwnedBatch& b) { b.block_tables[0].block_ids.pop_back(); }},
    {"ids_of_a_huge_width",
     "block_tables[0].block_ids: must have 4 rows of width 2147483647, 8589934588 elements (got "
     "12)",
     [](auto&, OwnedBatch& b) { b.block_tables[0].width = kMax; }},
    {"negative_id", "block_tables[0].block_ids[5]: a block id must not be negative (got -1)",
     [](auto&, OwnedBatch& b) { b.block_tables[0].block_ids[5] = -1; }},
    {"least_id", "block_tables[1].block_ids[1]: a block id must not be negative (got -2147483648)",
     [](auto&, OwnedBatch& b) { b.block_tables[1].block_ids[1] = kMin; }},
    {"gather_past_the_table",
     "block_tables[1].block_ids[5]: row 1 of 49 tokens needs columns 3..5 of a table of width 5",
     [](auto&, OwnedBatch& b) { b.seq_lens[1] = 49; }},
    {"gather_far_past_the_table",
     "block_tables[1].block_ids[0]: row 0 of 2147483647 tokens needs columns "
     "2147483646..2147483648 of a table of width 5",
     [](PlanConfig& c, OwnedBatch& b) {
       c.groups[1].block_size = 1;
       b.seq_lens[0] = kMax;
     }},
};
INSTANTIATE_TEST_SUITE_P(Tables, RefusedTest, ::testing::ValuesIn(kTables), CaseName);

void MakeCapture(OwnedBatch& batch) {
  batch.kind = BatchKind::kCudagraphCapture;
  batch.query_start_loc = {0, 3, 6, 9, 9};
}

const RefusedCase kCapture[] = {
    {"capture_rows", "seq_lens: a capture batch has at most capture_limit 3 rows (got 4)",
     [](PlanConfig& c, OwnedBatch& b) {
       MakeCapture(b);
       c.max_cudagraph_capture_size = 3;
     }},
    {"capture_tokens",
     "query_start_loc: a capture batch has at most capture_limit 8 tokens (got 9)",
     [](PlanConfig& c, OwnedBatch& b) {
       MakeCapture(b);
       b.num_actual_tokens.reset();
       c.max_cudagraph_capture_size = 8;
     }},
    {"capture_padded_tokens",
     "num_actual_tokens: a capture batch has at most capture_limit 12 tokens (got 13)",
     [](auto&, OwnedBatch& b) {
       MakeCapture(b);
       b.num_actual_tokens = 13;
     }},
    {"capture_long_row",
     "query_start_loc[2]: a row of a capture batch has at most num_speculative_tokens + 1 = 3 "
     "tokens (got 4)",
     [](auto&, OwnedBatch& b) {
       MakeCapture(b);
       b.query_start_loc = {0, 3, 7, 9, 9};
     }},
};
INSTANTIATE_TEST_SUITE_P(Capture, RefusedTest, ::testing::ValuesIn(kCapture), CaseName);

struct AcceptedCase {
  const char* name;
  Change change;
};

void PrintTo(const AcceptedCase& accepted, std::ostream* out) { *out << accepted.name; }

class AcceptedTest : public ::testing::TestWithParam<AcceptedCase> {};

TEST_P(AcceptedTest, IsAccepted) {
  PlanConfig config = test::SampleConfig();
  OwnedBatch batch = test::SampleBatch();
  GetParam().change(config, batch);
  EXPECT_THAT(ValidateBatch(config, batch.view()), IsOk());
}

// The other side of each bound above.
const AcceptedCase kAccepted[] = {
    {"as_it_is", [](auto&, auto&) {}},
    {"just_the_tokens", [](PlanConfig& c, auto&) { c.max_num_batched_tokens = 9; }},
    {"actual_tokens_at_the_limit", [](auto&, OwnedBatch& b) { b.num_actual_tokens = 32; }},
    {"actual_tokens_absent", [](auto&, OwnedBatch& b) { b.num_actual_tokens.reset(); }},
    {"no_tokens",
     [](auto&, OwnedBatch& b) {
       b.query_start_loc = {0, 0, 0, 0, 0};
       b.num_actual_tokens = 0;
     }},
    {"longest_sequence",
     [](auto&, OwnedBatch& b) {
       b.seq_lens[3] = kMax;  // a padded row's is not looked up in the table
     }},
    {"gather_at_the_edge", [](auto&, OwnedBatch& b) { b.seq_lens[1] = 48; }},
    {"longest_sequence_in_one_block",
     [](PlanConfig& c, OwnedBatch& b) {
       c.groups[1].block_size = kMax;
       b.seq_lens[0] = kMax;
     }},
    {"no_flags", [](auto&, OwnedBatch& b) { b.is_prefilling.clear(); }},
    {"no_speculation",
     [](auto&, OwnedBatch& b) {
       b.num_decode_draft_tokens.clear();
       b.num_accepted_tokens.clear();
     }},
    {"accepted_without_drafts", [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens.clear(); }},
    {"one_accepted", [](auto&, OwnedBatch& b) { b.num_accepted_tokens[0] = 1; }},
    {"no_drafts_of_a_decode",
     [](auto&, OwnedBatch& b) {
       b.num_decode_draft_tokens[1] = 0;
       b.num_accepted_tokens[1] = 1;
     }},
    {"drafts_of_a_padded_row", [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens[3] = kMax; }},
    {"drafts_very_negative", [](auto&, OwnedBatch& b) { b.num_decode_draft_tokens[1] = kMin; }},
    {"block_ids_at_both_ends",
     [](auto&, OwnedBatch& b) {
       b.block_tables[0].block_ids[0] = 0;
       b.block_tables[0].block_ids[1] = kMax;
     }},
    {"negative_id_where_nothing_reads",
     [](auto&, OwnedBatch& b) {
       b.block_tables[1].block_ids[0] = -1;
       b.block_tables[1].block_ids[9] = 1;
     }},
    {"wider_table",
     [](auto&, OwnedBatch& b) {
       b.block_tables[0] = {std::vector<int32_t>(16, 1), 4};
     }},
    {"capture_at_the_limit",
     [](PlanConfig& c, OwnedBatch& b) {
       MakeCapture(b);
       c.max_cudagraph_capture_size = 9;
     }},
    {"capture_ignores_drafts",
     [](auto&, OwnedBatch& b) {
       MakeCapture(b);
       b.num_decode_draft_tokens = {9, 9, 9, 9};
       b.num_accepted_tokens.clear();
     }},
};
INSTANTIATE_TEST_SUITE_P(Batches, AcceptedTest, ::testing::ValuesIn(kAccepted),
                         [](const auto& param) { return param.param.name; });

TEST(TableFieldTest, Path) {
  EXPECT_EQ((TableField{"block_table"}).Path("width"), "block_table.width");
  EXPECT_EQ((TableField{"block_tables", 0}).Path("block_ids"), "block_tables[0].block_ids");
}

}  // namespace
}  // namespace gdnplan::plan
