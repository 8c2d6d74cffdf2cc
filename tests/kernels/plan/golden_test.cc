// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Every golden case, value for value.
#include "client/json/golden.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tests/testing/planned_slot.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::plan {
namespace {

using json::CompareWithGolden;
using json::GoldenCase;
using test::IsOk;
using test::PlannedSlot;
using ::testing::IsEmpty;

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(GDNPLAN_GOLDEN_DIR)) {
    if (entry.path().extension() == ".jsonl") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<GoldenCase> ReadCases(const std::string& name) {
  auto cases = json::ReadGoldenFile(std::string(GDNPLAN_GOLDEN_DIR) + "/" + name + ".jsonl");
  EXPECT_THAT(cases, IsOk());
  return cases.ok() ? *std::move(cases) : std::vector<GoldenCase>();
}

// The case through that slot, and the re-gather where it has one.
void CheckCase(const GoldenCase& golden, PlannedSlot& slot) {
  SCOPED_TRACE(golden.name);
  ASSERT_THAT(slot.Plan(golden.batch.view()), IsOk());
  EXPECT_THAT(CompareWithGolden(golden.expected, slot.counts(), slot.reader()), IsEmpty());
  if (!golden.update_block_table.has_value()) return;
  const json::ExpectedUpdate& update = *golden.update_block_table;
  ASSERT_THAT(slot.Regather(0, update.table.view()), IsOk());
  EXPECT_THAT(CompareWithGolden({&update.expected, 1}, slot.counts(), slot.reader()), IsEmpty());
  // The other groups stay as they were.
  std::vector<json::ExpectedGroup> others = golden.expected;
  others[0] = update.expected;
  EXPECT_THAT(CompareWithGolden(others, slot.counts(), slot.reader()), IsEmpty());
}

class GoldenFileTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenFileTest, FreshPlanner) {
  for (const GoldenCase& golden : ReadCases(GetParam())) {
    PlannedSlot slot(golden.config);
    CheckCase(golden, slot);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFileTest, ::testing::ValuesIn(GoldenNames()),
                         [](const auto& param) { return param.param; });

// Everything that decides what a planner does, but for max_num_batched_tokens.
auto ConfigKey(const PlanConfig& config) {
  std::vector<std::pair<MambaCacheMode, int32_t>> groups;
  for (const GroupConfig& group : config.groups) {
    groups.emplace_back(group.mamba_cache_mode, group.block_size);
  }
  return std::tuple(config.max_num_seqs, config.num_speculative_tokens, config.use_full_cuda_graph,
                    config.max_cudagraph_capture_size, config.prefill_backend, groups);
}

// What one batch leaves behind in a planner or a slot must not reach the next.
TEST(GoldenTest, PlannersAndSlotsReused) {
  std::vector<GoldenCase> cases;
  for (const std::string& name : GoldenNames()) {
    std::vector<GoldenCase> more = ReadCases(name);
    std::move(more.begin(), more.end(), std::back_inserter(cases));
  }
  EXPECT_EQ(cases.size(), 266u);

  std::map<decltype(ConfigKey(PlanConfig())), PlanConfig> configs;
  for (const GoldenCase& golden : cases) {
    PlanConfig& config = configs.try_emplace(ConfigKey(golden.config), golden.config).first->second;
    config.max_num_batched_tokens =
        std::max(config.max_num_batched_tokens, golden.config.max_num_batched_tokens);
  }
  EXPECT_LT(configs.size(), cases.size());

  std::map<decltype(ConfigKey(PlanConfig())), std::unique_ptr<PlannedSlot>> slots;
  for (const auto& [key, config] : configs) slots[key] = std::make_unique<PlannedSlot>(config);
  for (int pass = 0; pass < 2; ++pass) {
    for (const GoldenCase& golden : cases) CheckCase(golden, *slots[ConfigKey(golden.config)]);
  }
}

}  // namespace
}  // namespace gdnplan::plan
