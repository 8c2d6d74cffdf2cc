// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/config.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "gdnplan/plan/constants.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using test::IsOk;
using test::StatusIs;

constexpr int32_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int32_t kInt32Min = std::numeric_limits<int32_t>::min();

PlanConfig SomeConfig() {
  PlanConfig config;
  config.max_num_seqs = 8;
  config.max_num_batched_tokens = 256;
  config.groups.resize(2);
  return config;
}

struct NumberCase {
  const char* field;
  std::function<void(PlanConfig&, int32_t)> set;
  int32_t low;
  int32_t high;
};

void PrintTo(const NumberCase& number, std::ostream* out) { *out << number.field; }

class NumberTest : public ::testing::TestWithParam<NumberCase> {};

TEST_P(NumberTest, HasBounds) {
  const NumberCase& param = GetParam();
  for (int32_t good : {param.low, param.high}) {
    PlanConfig config = SomeConfig();
    param.set(config, good);
    EXPECT_THAT(ValidateConfig(config), IsOk()) << good;
  }
  for (int32_t bad : {param.low - 1, param.high + 1, kInt32Min, kInt32Max}) {
    PlanConfig config = SomeConfig();
    param.set(config, bad);
    EXPECT_THAT(
        ValidateConfig(config),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 std::string(param.field) + ": must be in " + std::to_string(param.low) + ".." +
                     std::to_string(param.high) + " (got " + std::to_string(bad) + ")"));
  }
}

const NumberCase kNumbers[] = {
    {"max_num_seqs", [](PlanConfig& c, int32_t v) { c.max_num_seqs = v; }, 1, kMaxNumSeqs},
    {"max_num_batched_tokens", [](PlanConfig& c, int32_t v) { c.max_num_batched_tokens = v; }, 1,
     kMaxNumBatchedTokens},
    {"num_speculative_tokens", [](PlanConfig& c, int32_t v) { c.num_speculative_tokens = v; }, 0,
     kMaxSpeculativeTokens},
    {"max_cudagraph_capture_size",
     [](PlanConfig& c, int32_t v) { c.max_cudagraph_capture_size = v; }, 1, kMaxNumBatchedTokens},
    {"chunk_size", [](PlanConfig& c, int32_t v) { c.chunk_size = v; }, 1, kMaxChunkSize},
};

INSTANTIATE_TEST_SUITE_P(Fields, NumberTest, ::testing::ValuesIn(kNumbers),
                         [](const auto& param) { return param.param.field; });

TEST(ConfigTest, ChunkSizeIsAPowerOfTwo) {
  PlanConfig config = SomeConfig();
  for (config.chunk_size = 1; config.chunk_size <= kMaxChunkSize; config.chunk_size *= 2) {
    EXPECT_THAT(ValidateConfig(config), IsOk()) << config.chunk_size;
  }
  config.chunk_size = 48;
  EXPECT_THAT(ValidateConfig(config), StatusIs(absl::StatusCode::kInvalidArgument,
                                               "chunk_size: must be a power of two (got 48)"));
}

TEST(ConfigTest, NumberOfGroups) {
  PlanConfig config = SomeConfig();
  config.groups.resize(kMaxGroups);
  EXPECT_THAT(ValidateConfig(config), IsOk());
  config.groups.resize(kMaxGroups + 1);
  EXPECT_THAT(ValidateConfig(config),
              StatusIs(absl::StatusCode::kInvalidArgument, "groups: must be in 1..256 (got 257)"));
  config.groups.clear();
  EXPECT_THAT(ValidateConfig(config),
              StatusIs(absl::StatusCode::kInvalidArgument, "groups: must be in 1..256 (got 0)"));
}

TEST(ConfigTest, BlockSizeIsNeededByAlignAlone) {
  PlanConfig config = SomeConfig();
  for (MambaCacheMode mode : {MambaCacheMode::kNone, MambaCacheMode::kAll}) {
    config.groups[1] = {"", mode, 0};
    EXPECT_THAT(ValidateConfig(config), IsOk());
    config.groups[1].block_size = -1;
    EXPECT_THAT(ValidateConfig(config),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "groups[1].block_size: must be at least 0 (got -1)"));
  }
  config.groups[1] = {"", MambaCacheMode::kAlign, 0};
  EXPECT_THAT(ValidateConfig(config), StatusIs(absl::StatusCode::kInvalidArgument,
                                               "groups[1].block_size: must be at least 1 (got 0)"));
  for (int32_t good : {1, kInt32Max}) {
    config.groups[1].block_size = good;
    EXPECT_THAT(ValidateConfig(config), IsOk());
  }
}

TEST(ConfigTest, CaptureLimit) {
  PlanConfig config = SomeConfig();
  EXPECT_EQ(config.capture_limit(), 8);
  config.num_speculative_tokens = 3;
  EXPECT_EQ(config.state_columns(), 4);
  EXPECT_EQ(config.capture_limit(), 32);
  config.max_cudagraph_capture_size = 20;
  EXPECT_EQ(config.capture_limit(), 20);
  config.max_cudagraph_capture_size = 33;
  EXPECT_EQ(config.capture_limit(), 32) << "the rows bound it all the same";
  config.max_num_seqs = kMaxNumSeqs;
  config.num_speculative_tokens = kMaxSpeculativeTokens;
  config.max_cudagraph_capture_size.reset();
  EXPECT_EQ(config.capture_limit(), 65'536 * 65);
}

}  // namespace
}  // namespace gdnplan::plan
