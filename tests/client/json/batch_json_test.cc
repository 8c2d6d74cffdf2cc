// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/batch_json.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/json/json_reader.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::json {
namespace {

using nlohmann::json;
using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

json SomeDocument() {
  return json::parse(R"({
    "config": {"max_num_seqs": 8, "mamba_cache_mode": "align", "block_size": 16},
    "batch": {"query_start_loc": [0, 3, 4], "seq_lens": [20, 5],
              "block_tables": [[[1, 2, 3], [4, 5, 6]], [[7], [8]]]}
  })");
}

TEST(BatchJsonTest, DefaultsOfWhatIsLeftOut) {
  const auto read = ReadBatch(SomeDocument());
  ASSERT_THAT(read, IsOk());
  const plan::PlanConfig& config = read->config;
  EXPECT_EQ(config.max_num_seqs, 8);
  EXPECT_EQ(config.max_num_batched_tokens, 4) << "the batch's tokens";
  EXPECT_EQ(config.num_speculative_tokens, 0);
  EXPECT_FALSE(config.use_full_cuda_graph);
  EXPECT_EQ(config.max_cudagraph_capture_size, std::nullopt);
  EXPECT_EQ(config.prefill_backend, plan::PrefillBackend::kTriton);
  EXPECT_EQ(config.chunk_size, 64);
  ASSERT_EQ(config.num_groups(), 2);
  EXPECT_EQ(config.groups[1].mamba_cache_mode, plan::MambaCacheMode::kAlign);
  EXPECT_EQ(config.groups[1].block_size, 16);
  const plan::BatchView batch = read->batch.view();
  EXPECT_EQ(batch.kind, plan::BatchKind::kStep);
  EXPECT_THAT(batch.query_start_loc, ElementsAre(0, 3, 4));
  EXPECT_THAT(batch.seq_lens, ElementsAre(20, 5));
  EXPECT_THAT(batch.is_prefilling, IsEmpty());
  EXPECT_THAT(batch.num_decode_draft_tokens, IsEmpty());
  EXPECT_EQ(batch.num_actual_tokens, std::nullopt);
  ASSERT_EQ(batch.block_tables.size(), 2u);
  EXPECT_EQ(batch.block_tables[0].width, 3);
  EXPECT_THAT(batch.block_tables[0].block_ids, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(batch.block_tables[1].width, 1);
}

TEST(BatchJsonTest, EveryMember) {
  json document = SomeDocument();
  document["op"] = "build_for_cudagraph_capture";
  document["config"] = json::parse(R"({
    "max_num_seqs": 9, "max_num_batched_tokens": 100, "num_speculative_tokens": 2,
    "use_full_cuda_graph": true, "max_cudagraph_capture_size": 12, "prefill_backend": "cutedsl",
    "chunk_size": 32, "groups": [{"name": "first", "mamba_cache_mode": "all", "block_size": 4}, {}]
  })");
  document["batch"]["is_prefilling"] = {true, 0};
  document["batch"]["num_decode_draft_tokens"] = {2, -1};
  document["batch"]["num_accepted_tokens"] = {1, std::numeric_limits<int32_t>::min()};
  document["batch"]["num_actual_tokens"] = 7;
  const auto read = ReadBatch(document);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->config.max_num_batched_tokens, 100);
  EXPECT_EQ(read->config.num_speculative_tokens, 2);
  EXPECT_TRUE(read->config.use_full_cuda_graph);
  EXPECT_EQ(read->config.max_cudagraph_capture_size, 12);
  EXPECT_EQ(read->config.prefill_backend, plan::PrefillBackend::kCutedsl);
  EXPECT_EQ(read->config.chunk_size, 32);
  EXPECT_EQ(read->config.groups[0].name, "first");
  EXPECT_EQ(read->config.groups[0].mamba_cache_mode, plan::MambaCacheMode::kAll);
  EXPECT_EQ(read->config.groups[1].mamba_cache_mode, plan::MambaCacheMode::kNone);
  EXPECT_EQ(read->batch.kind, plan::BatchKind::kCudagraphCapture);
  EXPECT_THAT(read->batch.is_prefilling, ElementsAre(1, 0));
  EXPECT_THAT(read->batch.num_decode_draft_tokens, ElementsAre(2, -1));
  EXPECT_THAT(read->batch.num_accepted_tokens, ElementsAre(1, std::numeric_limits<int32_t>::min()));
  EXPECT_EQ(read->batch.num_actual_tokens, 7);
}

TEST(BatchJsonTest, NullIsAbsent) {
  json document = SomeDocument();
  for (const char* name :
       {"is_prefilling", "num_decode_draft_tokens", "num_accepted_tokens", "num_actual_tokens"}) {
    document["batch"][name] = nullptr;
  }
  document["config"]["max_cudagraph_capture_size"] = nullptr;
  document["op"] = nullptr;
  EXPECT_THAT(ReadBatch(document), IsOk());
  document["batch"]["seq_lens"] = nullptr;
  EXPECT_THAT(ReadBatch(document),
              StatusIs(absl::StatusCode::kInvalidArgument, "batch.seq_lens: is missing"));
}

struct BadCase {
  const char* pointer;  // where in SomeDocument()
  const char* value;    // put there
  const char* message;
};

TEST(BatchJsonTest, ErrorsNameThePath) {
  const BadCase kCases[] = {
      {"/config", "3", "config: must be an object (got 3)"},
      {"/config", "null", "config: is missing"},
      {"/batch", "[]", "batch: must be an object (got an array of 0)"},
      {"/op", "\"bild\"", "op: must be build or build_for_cudagraph_capture (got \"bild\")"},
      {"/config/max_num_seqs", "null", "config.max_num_seqs: is missing"},
      {"/config/max_num_seqs", "2147483648",
       "config.max_num_seqs: must be an int32 (got 2147483648)"},
      {"/config/max_num_seqs", "18446744073709551615",
       "config.max_num_seqs: must be an int32 (got 18446744073709551615)"},
      {"/config/max_num_seqs", "-2147483649",
       "config.max_num_seqs: must be an int32 (got -2147483649)"},
      {"/config/max_num_seqs", "8.0", "config.max_num_seqs: must be an int32 (got 8.0)"},
      {"/config/max_num_seqs", "true", "config.max_num_seqs: must be an int32 (got true)"},
      {"/config/chunk_size", "\"64\"", "config.chunk_size: must be an int32 (got \"64\")"},
      {"/config/use_full_cuda_graph", "1",
       "config.use_full_cuda_graph: must be true or false (got 1)"},
      {"/config/prefill_backend", "\"Triton\"",
       "config.prefill_backend: must be triton, flashinfer or cutedsl (got \"Triton\")"},
      {"/config/mamba_cache_mode", "{}",
       "config.mamba_cache_mode: must be none, all or align (got an object)"},
      {"/config/max_num_seq", "1", "config: unknown key (got \"max_num_seq\")"},
      {"/config/groups", "{}", "config.groups: must be a list (got an object)"},
      {"/config/groups", "[{}]",
       "config.groups: must have an entry for each of the 2 tables of batch.block_tables (got an "
       "array of 1)"},
      {"/config/groups", "[{}, 1]", "config.groups[1]: must be an object (got 1)"},
      {"/config/groups", "[{}, {\"name\": 1}]", "config.groups[1].name: must be a string (got 1)"},
      {"/config/groups", "[{}, {\"mamba_cache_mode\": \"some\"}]",
       "config.groups[1].mamba_cache_mode: must be none, all or align (got \"some\")"},
      {"/config/groups", "[{}, {\"size\": 1}]", "config.groups[1]: unknown key (got \"size\")"},
      {"/batch/seq_lens/1", "\"x\"", "batch.seq_lens[1]: must be an int32 (got \"x\")"},
      {"/batch/seq_lens/0", "[[]]", "batch.seq_lens[0]: must be an int32 (got an array of 1)"},
      {"/batch/seq_lens", "20", "batch.seq_lens: must be a list of int32 (got 20)"},
      {"/batch/query_start_loc/2", "1e99",
       "batch.query_start_loc[2]: must be an int32 (got 1e+99)"},
      {"/batch/is_prefilling", "[true, 2]",
       "batch.is_prefilling[1]: must be true or false (got 2)"},
      {"/batch/is_prefilling", "true",
       "batch.is_prefilling: must be a list of true and false (got true)"},
      {"/batch/num_actual_tokens", "[]",
       "batch.num_actual_tokens: must be an int32 (got an array of 0)"},
      {"/batch/drafts", "[]", "batch: unknown key (got \"drafts\")"},
      {"/batch/block_tables", "7", "batch.block_tables: must be a list (got 7)"},
      {"/batch/block_tables/1", "{}",
       "batch.block_tables[1]: must be a list of rows (got an object)"},
      {"/batch/block_tables/0/1", "4", "batch.block_tables[0][1]: must be a list of int32 (got 4)"},
      {"/batch/block_tables/0/1", "[4, 5]",
       "batch.block_tables[0][1]: must have as many blocks as row 0, 3 (got an array of 2)"},
      {"/batch/block_tables/0/1/2", "null",
       "batch.block_tables[0][1][2]: must be an int32 (got null)"},
  };
  for (const BadCase& bad : kCases) {
    json document = SomeDocument();
    document[json::json_pointer(bad.pointer)] = json::parse(bad.value);
    EXPECT_THAT(ReadBatch(document), StatusIs(absl::StatusCode::kInvalidArgument, bad.message))
        << bad.pointer << " = " << bad.value;
  }
}

TEST(BatchJsonTest, OtherDocumentsThanObjects) {
  for (const char* text : {"[]", "3", "null", "\"batch\"", "true"}) {
    EXPECT_THAT(ParseBatch(text),
                StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("must be an object")))
        << text;
  }
}

TEST(BatchJsonTest, TextThatIsNotJson) {
  for (const char* text : {"", "{", "{} {}", "{\"config\": }", "\xff\xfe", "nul", "[1,]"}) {
    EXPECT_THAT(ParseBatch(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                           StartsWith("not valid JSON: parse error at line 1")))
        << text;
  }
}

TEST(BatchJsonTest, NumbersThatNothingHolds) {
  EXPECT_THAT(ParseBatch("{\"config\": 1e400}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("not valid JSON: number overflow parsing '1e400'")));
}

TEST(BatchJsonTest, DeepNestingIsAnErrorNotACrash) {
  constexpr int kDepth = 200'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_THAT(ParseBatch(deep), Not(IsOk()));
  EXPECT_THAT(ParseBatch("{\"config\": " + deep + ", \"batch\": " + deep + "}"), Not(IsOk()));
  EXPECT_THAT(ParseBatch(std::string(kDepth, '[')), Not(IsOk()));
  std::string objects;
  for (int i = 0; i < kDepth; ++i) objects += "{\"batch\":";
  EXPECT_THAT(ParseBatch(objects + "1" + std::string(kDepth, '}')), Not(IsOk()));
}

TEST(BatchJsonTest, LongTextIsCutInErrors) {
  json document = SomeDocument();
  document["batch"]["seq_lens"][0] = std::string(100'000, 'x');
  const auto read = ReadBatch(document);
  ASSERT_THAT(read, Not(IsOk()));
  EXPECT_LT(read.status().message().size(), 200u);
  // A cut in the middle of a character.
  document["batch"]["seq_lens"][0] = std::string(39, 'x') + "\xc3\xa9";
  EXPECT_THAT(ReadBatch(document),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch.seq_lens[0]")));
}

// Any value anywhere is read or refused, without an exception.
TEST(BatchJsonTest, AnyValueAnywhere) {
  const json kValues[] = {
      nullptr,       true,           0,      -1,           2147483648u, 1.5, "text",
      json::array(), json::object(), {1, 2}, {{1}, {2, 3}}};
  const json flat = SomeDocument().flatten();
  std::vector<std::string> pointers = {"/config", "/batch", "/batch/block_tables",
                                       "/batch/block_tables/0", "/batch/block_tables/0/0"};
  for (auto it = flat.begin(); it != flat.end(); ++it) pointers.push_back(it.key());
  for (const std::string& pointer : pointers) {
    for (const json& value : kValues) {
      json document = SomeDocument();
      document[json::json_pointer(pointer)] = value;
      const auto read = ReadBatch(document);
      if (read.ok()) continue;
      EXPECT_THAT(read, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(": ")));
    }
  }
}

// Random damage to the text.
TEST(BatchJsonTest, DamagedText) {
  const std::string text = SomeDocument().dump();
  test::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = text;
    for (int change = random.Between(1, 3); change > 0; --change) {
      const auto at = static_cast<size_t>(random.Between(0, static_cast<int32_t>(text.size()) - 1));
      damaged[at] = random.Chance(50) ? text[text.size() - 1 - at]
                                      : static_cast<char>(random.Between(0, 255));
    }
    (void)ParseBatch(damaged);
  }
}

TEST(OwnedBatchTest, CopiesHaveViewsOfTheirOwn) {
  auto read = ReadBatch(SomeDocument());
  ASSERT_THAT(read, IsOk());
  const plan::BatchView view = read->batch.view();
  OwnedBatch copy = read->batch;
  copy.block_tables[0].block_ids[0] = 99;
  const plan::BatchView copied = copy.view();
  EXPECT_EQ(view.block_tables[0].block_ids[0], 1);
  EXPECT_EQ(copied.block_tables[0].block_ids[0], 99);
  EXPECT_NE(view.block_tables.data(), copied.block_tables.data());
}

}  // namespace
}  // namespace gdnplan::json
