// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The server of a fault run, which dies and comes again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/client.h"
#include "tests/faults/options.h"
#include "tests/testing/process.h"
#include "tests/testing/process_usage.h"

namespace gdnplan::test {

class ServerUnderTest {
 public:
  // What there must be no more of later than there was.
  struct Held {
    ProcessUsage process;
    size_t objects = 0;     // shared memory, of all servers of the run
    uint64_t gpu_free = 0;  // bytes of the first GPU; 0: there is none
    std::string Text() const;
  };

  explicit ServerUnderTest(const FaultOptions& options) : options_(options) {}

  // Starts one, after killing the one before.
  absl::Status Start();
  void Signal(int signal) const { process_->Signal(signal); }
  // Internal: it ended by itself.
  absl::Status CheckAlive();
  // SIGTERM, and an exit status of 0.
  absl::Status End();

  // The tool checks the golden batches.
  absl::Status VerifyGolden() const;
  // Waits until nobody's session is left: the lease, the grace, and what a slow machine takes.
  absl::Status AwaitNoSessions() const;
  // Waits until no shared memory is left but the live server's own, and there is no more of
  // anything than `before`.
  absl::Status AwaitNothingLeft(const Held& before) const;
  absl::StatusOr<Held> Measure() const;

  // Since the last Start. Nothing: it was not measured yet.
  std::optional<Held> baseline;

 private:
  std::vector<std::string> Leftovers() const;

  const FaultOptions& options_;
  std::unique_ptr<Process> process_;
  std::optional<client::Client> client_;
  std::vector<std::string> boots_;  // of all servers so far, the live one's last
};

}  // namespace gdnplan::test
