// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A load on a server, from its start to its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/load/lane.h"
#include "client/load/options.h"
#include "client/load/result.h"
#include "client/load/ticker.h"

namespace gdnplan::load {

// An error of gRPC's own, such as "Broken pipe", names neither the call nor the server.
absl::Status OfCall(const absl::Status& error, std::string_view call, const std::string& address);

class LoadRun {
 public:
  // Whether the options agree with each other. InvalidArgument names the one that does not.
  static absl::Status Check(const LoadOptions& options);
  // Opens connections and sessions. connect(): another connection to the server. InvalidArgument
  // names the option.
  static absl::StatusOr<std::unique_ptr<LoadRun>> Start(
      LoadOptions options, const std::function<absl::StatusOr<client::Client>()>& connect);
  ~LoadRun();

  struct Window {
    std::chrono::duration<double> length{5};
    uint64_t steps = 0;  // so many requests start at most; 0: as many as the time allows
    // Called once a second with what was measured so far, and after how long.
    std::function<void(const Result& so_far)> progress = nullptr;
    // Asked often; true ends the window.
    std::function<bool()> interrupted = nullptr;
  };
  // Sends from now on, and waits for the answers to all that started: each request that was due in
  // the window is counted in it. Ends early when every workload is over, or every session has been
  // lost for some seconds. `parameters` stay empty.
  Result Measure(const Window& window);
  // Whether every workload is over.
  bool over() const;

  // Closes the sessions. `result`, the last measurement's, with those that show only now to have
  // been lost.
  Result Close(Result result);

  const client::SessionInfo& info() const { return lanes_.front()->info(); }

 private:
  using Clock = Lane::Clock;
  struct State;

  explicit LoadRun(LoadOptions options) : options_(std::move(options)) {}

  State Look() const;
  // In the place of those that are known.
  void SetFailures(Result& result) const;
  void Stop();

  const LoadOptions options_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<Ticker> watch_;  // of lanes_; one, for there may be a thousand of them
  Clock::time_point begin_;        // of the last measurement
};

}  // namespace gdnplan::load
