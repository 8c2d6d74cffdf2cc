// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What each session of a load is asked to plan.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/scheduler_options.h"
#include "client/load/step_source.h"

namespace gdnplan::load {

// Where neither a shape nor a trace is given.
inline constexpr char kDefaultShape[] = "decode=256";

struct WorkloadOptions {
  // Specifications of shapes that take turns; see shape.h. Empty, and no trace: kDefaultShape.
  std::vector<std::string> shapes;
  // A trace's file: a simulated scheduler serves it, each session every n-th request.
  std::string trace;
  bool once = false;           // ends with the trace, instead of beginning again
  SchedulerOptions scheduler;  // of a trace; its seed is not read
};

// A source for session i of `sessions`; the same arguments give the same steps. `requests`: what
// the trace's file holds, else none. InvalidArgument names the option, or the request's line.
absl::StatusOr<SourceMaker> MakeSources(const WorkloadOptions& options,
                                        std::vector<Request> requests, int sessions, uint64_t seed);

}  // namespace gdnplan::load
