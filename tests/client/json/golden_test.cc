// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/golden.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace gdnplan::json {
namespace {

using nlohmann::json;
using plan::TensorId;
using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string GoldenPath(const std::string& name) {
  return std::string(GDNPLAN_GOLDEN_DIR) + "/" + name + ".jsonl";
}

std::string FirstLine(const std::string& name) {
  std::ifstream file(GoldenPath(name));
  std::string line;
  std::getline(file, line);
  return line;
}

GoldenCase Case(const std::string& file, const std::string& name) {
  auto cases = ReadGoldenFile(GoldenPath(file));
  EXPECT_THAT(cases, IsOk());
  for (GoldenCase& golden : *cases) {
    if (golden.name == name) return std::move(golden);
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

// A plan that has just what the case expects.
struct PerfectPlan {
  explicit PerfectPlan(const GoldenCase& golden) : expected(golden.expected) {
    counts = expected[0].counts;
    for (size_t g = 0; g < expected.size(); ++g) {
      for (int id = 0; id < plan::kNumTensors; ++id) {
        const auto& want = expected[g].tensors[static_cast<size_t>(id)];
        if (!want.has_value()) continue;
        TensorData data{want->dims, want->data};
        size_t elements = 1;
        for (int32_t dim : want->dims) elements *= static_cast<size_t>(dim);
        data.data.resize(elements, want->fill.value_or(0));
        tensors[{static_cast<TensorId>(id), static_cast<int32_t>(g)}] = data;
      }
      if (!expected[g].conv.has_value()) continue;
      const std::vector<int32_t>& nums = expected[g].conv->nums;
      tensors[{TensorId::kNums, static_cast<int32_t>(g)}] = {{static_cast<int32_t>(nums.size())},
                                                             nums};
      counts.num_conv_programs = expected[g].conv->tot;
    }
  }

  std::vector<std::string> Mismatches() const {
    return CompareWithGolden(expected, counts, [this](TensorId id, int32_t group) {
      const auto it = tensors.find({id, group});
      return it == tensors.end() ? std::nullopt : std::optional(it->second);
    });
  }

  std::vector<ExpectedGroup> expected;
  plan::PlanCounts counts;
  std::map<std::pair<TensorId, int32_t>, TensorData> tensors;
};

TEST(ReadGoldenFileTest, ReadsCasesWithTheirUpdates) {
  const auto cases = ReadGoldenFile(GoldenPath("spec_uniform"));
  ASSERT_THAT(cases, IsOk());
  ASSERT_THAT(*cases, SizeIs(12));
  const GoldenCase& golden = cases->front();
  EXPECT_EQ(golden.name, "spec_uniform_00");
  EXPECT_EQ(golden.config.num_speculative_tokens, 2);
  EXPECT_EQ(golden.batch.seq_lens.size(), 6u);
  ASSERT_THAT(golden.expected, SizeIs(1));
  EXPECT_EQ(golden.expected[0].counts.uniform_spec_sequence_length, 3);
  EXPECT_THAT(golden.expected[0][TensorId::kSpecStateIndices]->dims, ElementsAre(6, 3));
  EXPECT_FALSE(golden.expected[0][TensorId::kNonSpecStateIndices].has_value());
  ASSERT_TRUE(golden.update_block_table.has_value());
  EXPECT_EQ(golden.update_block_table->table.width, 3);
}

TEST(ReadGoldenFileTest, RowsOverMaxNumSeqsRaiseItAndKeepTheCaptureLimit) {
  const GoldenCase golden = Case("spec_with_decode", "spec_with_decode_08");
  EXPECT_EQ(golden.batch.seq_lens.size(), 9u);
  EXPECT_EQ(golden.config.max_num_seqs, 9);
  EXPECT_EQ(golden.config.capture_limit(), 8 * 4);
  // The batch reader does no such thing.
  const auto batch = ReadBatch(json::parse(FirstLine("decode_only")));
  ASSERT_THAT(batch, IsOk());
}

TEST(ReadGoldenFileTest, ErrorsNameFileAndLine) {
  EXPECT_THAT(ReadGoldenFile("/nowhere/x.jsonl"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/x.jsonl")));
  const std::string path = ::testing::TempDir() + "/golden_test.jsonl";
  std::ofstream(path) << FirstLine("decode_only") << "\n\n{\"batch\": 1}\n";
  EXPECT_THAT(ReadGoldenFile(path), StatusIs(absl::StatusCode::kInvalidArgument,
                                             EndsWith(":3: batch: must be an object (got 1)")));
  std::ofstream(path, std::ios::trunc) << "\n";
  EXPECT_THAT(ReadGoldenFile(path),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no cases")));
  std::remove(path.c_str());
}

TEST(ReadGoldenCaseTest, ErrorsNameThePath) {
  struct {
    const char* pointer;
    const char* value;
    const char* message;
  } const kCases[] = {
      {"/name", "null", "name: is missing"},
      {"/expected", "[]", "expected: must be a list with an entry per group (got an array of 0)"},
      {"/expected/0", "[]", "expected[0]: must be an object (got an array of 0)"},
      {"/expected/0/num_prefills", "null", "expected[0].num_prefills: is missing"},
      {"/expected/0/spec_query_start_loc", "5",
       "expected[0].spec_query_start_loc: must be an object (got 5)"},
      {"/expected/0/spec_query_start_loc/shape", "[2, -1]",
       "expected[0].spec_query_start_loc.shape: must be one or two sizes (got an array of 2)"},
      {"/expected/0/spec_query_start_loc/shape", "[]",
       "expected[0].spec_query_start_loc.shape: must be one or two sizes (got an array of 0)"},
      {"/expected/0/spec_query_start_loc/shape", "[2147483647, 2147483647]",
       "expected[0].spec_query_start_loc.data: must fit the shape's 4611686014132420609 elements "
       "(got an array of 7)"},
      {"/expected/0/spec_query_start_loc/data/1", "\"a\"",
       "expected[0].spec_query_start_loc.data[1]: must be an int32 (got \"a\")"},
      {"/expected/0/nums_dict", "{}", "expected[0].nums_dict.8: is missing"},
      {"/expected/0/nums_dict", "{\"8\": {\"nums\": [1]}}",
       "expected[0].nums_dict.8.mlist: is missing"},
      {"/update_block_table/block_table", "1",
       "update_block_table.block_table: must be a list of rows (got 1)"},
      {"/update_block_table/expected", "1",
       "update_block_table.expected: must be an object (got 1)"},
      {"/config/max_num_seqs", "0", "max_num_seqs: must be in 1..65536 (got 0)"},
  };
  for (const auto& bad : kCases) {
    json document = json::parse(FirstLine("spec_uniform"));
    document[json::json_pointer(bad.pointer)] = json::parse(bad.value);
    EXPECT_THAT(ReadGoldenCase(document), StatusIs(absl::StatusCode::kInvalidArgument, bad.message))
        << bad.pointer;
  }
  json document = json::parse(FirstLine("spec_uniform"));
  document["expected"][0].erase("chunk_offsets");
  EXPECT_THAT(ReadGoldenCase(document), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 "expected[0].chunk_offsets: is missing"));
}

// A tensor with `fill` may be far larger than its text.
TEST(ReadGoldenCaseTest, HugeFilledShapeIsNotExpanded) {
  json document = json::parse(FirstLine("mixed_non_spec"));
  document["expected"][0]["batch_ptr"]["shape"] = {2147483647, 2147483647};
  EXPECT_THAT(ReadGoldenCase(document), IsOk());
}

TEST(CompareWithGoldenTest, FindsNothingInThePlanItself) {
  for (const char* file : {"groups_mixed", "groups_spec", "spec_with_prefill", "traps", "large"}) {
    const auto cases = ReadGoldenFile(GoldenPath(file));
    ASSERT_THAT(cases, IsOk());
    for (const GoldenCase& golden : *cases) {
      EXPECT_THAT(PerfectPlan(golden).Mismatches(), IsEmpty()) << golden.name;
    }
  }
}

// Each single change of any element, shape or presence is found.
TEST(CompareWithGoldenTest, FindsEachChange) {
  const PerfectPlan perfect(Case("groups_mixed", "groups_mixed_00"));
  ASSERT_GT(perfect.expected.size(), 1u);
  for (const auto& [key, tensor] : perfect.tensors) {
    const std::string name(plan::Spec(key.first).name);
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      PerfectPlan changed = perfect;
      int32_t& element = changed.tensors[key].data[i];
      const bool unspecified = key.first == TensorId::kChunkIndices && element == -9;
      element += 1;
      ASSERT_EQ(changed.Mismatches().empty(), unspecified) << name << "[" << i << "]";
    }
    PerfectPlan reshaped = perfect;
    reshaped.tensors[key].dims[0] += 1;
    reshaped.tensors[key].data.resize(tensor.data.size() * 2 + 2);
    EXPECT_THAT(reshaped.Mismatches(), Not(IsEmpty())) << name;
    PerfectPlan absent = perfect;
    absent.tensors.erase(key);
    EXPECT_THAT(absent.Mismatches(), Not(IsEmpty())) << name;
  }
  for (int id = 0; id < plan::kNumTensors; ++id) {
    PerfectPlan more = perfect;
    if (!more.tensors.try_emplace({static_cast<TensorId>(id), 0}, TensorData{{0}, {}}).second) {
      continue;
    }
    EXPECT_THAT(more.Mismatches(), Not(IsEmpty())) << id;
  }
}

TEST(CompareWithGoldenTest, FindsEachScalar) {
  using plan::PlanCounts;
  const PerfectPlan perfect(Case("groups_mixed", "groups_mixed_00"));
  for (int32_t PlanCounts::*member :
       {&PlanCounts::num_prefills, &PlanCounts::num_prefill_tokens, &PlanCounts::num_decodes,
        &PlanCounts::num_decode_tokens, &PlanCounts::num_spec_decodes,
        &PlanCounts::num_spec_decode_tokens, &PlanCounts::num_actual_tokens,
        &PlanCounts::uniform_spec_sequence_length, &PlanCounts::num_conv_programs}) {
    PerfectPlan changed = perfect;
    changed.counts.*member += 1;
    EXPECT_THAT(changed.Mismatches(), Not(IsEmpty()));
  }
}

TEST(CompareWithGoldenTest, SaysWhatDiffersAndStops) {
  PerfectPlan plan(Case("mixed_non_spec", "mixed_non_spec_00"));
  const std::pair key(TensorId::kNonSpecQueryStartLoc, 0);
  const int32_t want = plan.tensors[key].data[2];
  plan.tensors[key].data[2] = -5;
  EXPECT_THAT(
      plan.Mismatches(),
      ElementsAre("non_spec_query_start_loc[2] of group 0: got -5, want " + std::to_string(want)));
  plan.tensors[{TensorId::kBatchPtr, 0}].data.assign(2048, -5);
  EXPECT_THAT(plan.Mismatches(), SizeIs(8));
}

}  // namespace
}  // namespace gdnplan::json
