// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A load on a server, from its start to its end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/load/lane.h"
#include "client/load/options.h"
#include "client/load/result.h"

namespace gdnplan::load {

class LoadRun {
 public:
  // Opens connections and sessions and begins to send. InvalidArgument names the option.
  // connect(): another connection to the server.
  static absl::StatusOr<std::unique_ptr<LoadRun>> Start(
      LoadOptions options, const std::function<absl::StatusOr<client::Client>()>& connect);
  ~LoadRun();

  struct Window {
    std::chrono::duration<double> length{5};
    uint64_t steps = 0;  // it ends earlier once so many plans were answered; 0: it does not
    // Called once a second with what was measured so far, and after how long.
    std::function<void(const Result& so_far)> progress = nullptr;
    // Asked often; true ends the window.
    std::function<bool()> interrupted = nullptr;
  };
  // What happens from now on. Ends early when every workload is over. `parameters` stay empty.
  Result Measure(const Window& window);
  // Lets what happened so far go: the warm-up.
  void Discard();
  bool over() const;

  // Waits for what is under way and closes the sessions.
  absl::Status Stop();

  const client::SessionInfo& info() const { return lanes_.front()->info(); }

 private:
  explicit LoadRun(LoadOptions options) : options_(std::move(options)) {}

  const LoadOptions options_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace gdnplan::load
