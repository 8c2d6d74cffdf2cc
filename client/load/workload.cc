// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/workload.h"

#include <utility>

#include "client/load/shape.h"
#include "client/load/shape_source.h"
#include "client/load/trace_source.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

using Source = absl::StatusOr<std::unique_ptr<StepSource>>;

}  // namespace

absl::StatusOr<SourceMaker> MakeSources(const WorkloadOptions& options,
                                        std::vector<Request> requests, int sessions,
                                        uint64_t seed) {
  if (!options.trace.empty()) {
    GDNPLAN_RETURN_IF_ERROR(ValidateOptions(options.scheduler));
    GDNPLAN_RETURN_IF_ERROR(ValidateRequests(options.scheduler, requests));
    SchedulerOptions scheduler = options.scheduler;
    scheduler.seed = seed;
    auto shared = std::make_shared<const std::vector<Request>>(std::move(requests));
    const bool repeat = !options.once;
    return [shared, scheduler, sessions, repeat](int session,
                                                 const UsualSize& /*usual*/) -> Source {
      return TraceSource::Create(*shared, scheduler, {.index = session, .count = sessions}, repeat);
    };
  }
  ShapeOptions shapes;
  std::vector<std::string> texts = options.shapes;
  if (texts.empty()) texts.emplace_back(kDefaultShape);
  for (const std::string& text : texts) {
    GDNPLAN_ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
    shapes.shapes.push_back(std::move(shape));
  }
  return [shapes, seed](int session, const UsualSize& usual) -> Source {
    ShapeOptions own = shapes;
    own.usual = usual;
    // Sessions plan the same shapes of different rows.
    own.seed = seed * 1'000 + static_cast<uint64_t>(session);
    return ShapeSource::Create(own);
  };
}

}  // namespace gdnplan::load
