// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/families.h"

#include <limits>

namespace gdnplan::server {
namespace {

constexpr double kSecond = 1e9;  // in nanoseconds

prometheus::MetricFamily Family(std::string name, std::string help, prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

prometheus::ClientMetric& Add(prometheus::MetricFamily& family, Labels labels) {
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  return metric;
}

}  // namespace

prometheus::MetricFamily CounterFamily(std::string name, std::string help) {
  return Family(std::move(name), std::move(help), prometheus::MetricType::Counter);
}

prometheus::MetricFamily GaugeFamily(std::string name, std::string help) {
  return Family(std::move(name), std::move(help), prometheus::MetricType::Gauge);
}

prometheus::MetricFamily HistogramFamily(std::string name, std::string help) {
  return Family(std::move(name), std::move(help), prometheus::MetricType::Histogram);
}

void AddCounter(prometheus::MetricFamily& family, double value, Labels labels) {
  Add(family, std::move(labels)).counter.value = value;
}

void AddGauge(prometheus::MetricFamily& family, double value, Labels labels) {
  Add(family, std::move(labels)).gauge.value = value;
}

void AddHistogram(prometheus::MetricFamily& family, const LatencyHistogram::Counts& counts,
                  Labels labels) {
  prometheus::ClientMetric::Histogram& histogram = Add(family, std::move(labels)).histogram;
  uint64_t cumulated = 0;
  for (size_t i = 0; i < counts.buckets.size(); ++i) {
    cumulated += counts.buckets[i];
    const double bound = i < LatencyHistogram::kBoundsNs.size()
                             ? static_cast<double>(LatencyHistogram::kBoundsNs[i]) / kSecond
                             : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({cumulated, bound});
  }
  histogram.sample_count = cumulated;
  histogram.sample_sum = static_cast<double>(counts.sum_ns) / kSecond;
}

}  // namespace gdnplan::server
