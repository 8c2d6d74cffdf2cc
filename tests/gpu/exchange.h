// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The two sides of gdnplan-exchange.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gdnplan/client/types.h"
#include "tests/gpu/child_process.h"

namespace gdnplan::test {

struct ExchangeOptions {
  std::string server;
  std::string device;  // empty: the server's first
  uint64_t plans = 20'000;
  int32_t slots = 1;
  client::TimelinePlace timeline = client::TimelinePlace::kArena;
  bool guard = true;
  bool pause = false;
  int32_t kill_every = 0;  // 0: never
  uint64_t seed = 1;
  pid_t worker_of = 0;  // 0: this is the scheduler
};

// The worker's pipes and memory, as its scheduler hands them over.
inline constexpr int kFramesFd = ChildProcess::kFirstFd;
inline constexpr int kRepliesFd = ChildProcess::kFirstFd + 1;
inline constexpr int kReportFd = ChildProcess::kFirstFd + 2;  // a page, with CompareCounts
inline constexpr size_t kReportBytes = 4096;

// Each returns the process's exit status. `arguments`: those that make a worker.
int RunScheduler(const ExchangeOptions& options, const std::vector<std::string>& arguments);
int RunWorker(const ExchangeOptions& options);

}  // namespace gdnplan::test
