// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Steps of whole traces, which are not part of the repository: GDNPLAN_TRACES names a folder.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "client/load/scheduler.h"
#include "client/load/trace.h"
#include "tests/client/load/checked_replay.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::load {
namespace {

using plan::MambaCacheMode;

constexpr int64_t kSteps = 3000;

void Replay(const std::vector<Request>& requests, const SchedulerOptions& options) {
  auto scheduler = Scheduler::Create(requests, options);
  ASSERT_THAT(scheduler, test::IsOk());
  CheckedReplay replay(**scheduler, options, requests);
  replay.Run(kSteps);
  EXPECT_GT((*scheduler)->stats().output_tokens, kSteps);
  EXPECT_GT(replay.mixed_steps(), 0);
}

TEST(RealTraceTest, StepsOfWholeTracesAreRight) {
  const char* folder = std::getenv("GDNPLAN_TRACES");
  if (folder == nullptr) GTEST_SKIP() << "set GDNPLAN_TRACES to a folder of traces (CSV) to run";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    SCOPED_TRACE(entry.path().string());
    const auto requests = ReadTrace(entry.path().string());
    ASSERT_THAT(requests, test::IsOk());
    for (const double speed : {1.0, 50.0}) {
      SchedulerOptions options;
      options.speed = speed;
      Replay(*requests, options);
      options.num_speculative_tokens = 3;
      options.groups = 3;
      options.mamba_cache_mode = MambaCacheMode::kAlign;
      options.prefix_rate = 0.4;
      // Fewer than a busy engine would like to have.
      options.num_blocks = 2000;
      Replay(*requests, options);
    }
  }
  EXPECT_GT(files, 0) << folder << " has no *.csv";
}

}  // namespace
}  // namespace gdnplan::load
