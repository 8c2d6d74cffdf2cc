// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The two processes of gdnplan-crowd.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"
#include "tests/gpu/child_process.h"
#include "tests/gpu/crowd_session.h"

namespace gdnplan::test {

struct CrowdOptions {
  std::string server;
  CrowdSessionOptions session;
  int plans = 500;  // of each session that goes on
  int sessions = 64;
  int stopped = 8;
  Stop how = Stop::kSilent;
  int timeout_s = 120;
  pid_t stopped_of = 0;  // 0: this is the process whose sessions go on
};

// The second process has these: a byte comes in for each thing it shall do (stop, end), one goes
// out when it is done.
inline constexpr int kCommandFd = ChildProcess::kFirstFd;
inline constexpr int kDoneFd = ChildProcess::kFirstFd + 1;

// `first`: the seed of the first.
absl::StatusOr<std::vector<std::unique_ptr<CrowdSession>>> OpenSessions(
    const client::Client& client, const CrowdOptions& options, int count, uint64_t first);
// "median 0.12 ms, max 3.45 ms" of all sessions' times since the last call.
std::string DescribeTimes(std::vector<std::unique_ptr<CrowdSession>>& sessions);

// The process of the sessions whose workers stop. Returns its exit status.
int RunStopped(const CrowdOptions& options);

}  // namespace gdnplan::test
