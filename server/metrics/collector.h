// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A server's state as Prometheus metrics. docs/metrics.md lists them.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <vector>

#include "server/plan_trace.h"
#include "server/session_registry.h"

namespace gdnplan::server {

// Asks when it is asked: nothing is kept twice. Thread safe.
class MetricsCollector final : public prometheus::Collectable {
 public:
  // What is given must outlive the collector, but for `trace`, which may be null.
  MetricsCollector(const SessionRegistry& registry, std::function<bool()> serving,
                   const std::shared_ptr<const PlanTrace>& trace);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const SessionRegistry& registry_;
  const std::function<bool()> serving_;
  const std::weak_ptr<const PlanTrace> trace_;
};

}  // namespace gdnplan::server
