// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Builds what Prometheus' library serializes.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "server/latency_histogram.h"

namespace gdnplan::server {

using Labels = std::vector<prometheus::ClientMetric::Label>;

prometheus::MetricFamily CounterFamily(std::string name, std::string help);
prometheus::MetricFamily GaugeFamily(std::string name, std::string help);
prometheus::MetricFamily HistogramFamily(std::string name, std::string help);

// Adds a sample to a family of that type.
void AddCounter(prometheus::MetricFamily& family, double value, Labels labels = {});
void AddGauge(prometheus::MetricFamily& family, double value, Labels labels = {});
// In seconds.
void AddHistogram(prometheus::MetricFamily& family, const LatencyHistogram::Counts& counts,
                  Labels labels = {});

}  // namespace gdnplan::server
