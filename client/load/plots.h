// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A load's plots, as SVG elements. Each also has its main figures as text for screen readers.
#pragma once

#include <string>

#include "client/load/result.h"

namespace gdnplan::load {

// The share of plans by latency, on a logarithmic axis, with the percentiles marked.
std::string LatencyDistributionPlot(const Histogram& latency);
// p50, p99 and maximum of each interval. Intervals without an answer are marked.
std::string LatencyOverTimePlot(const std::vector<Interval>& timeline);
// Plans and errors a second.
std::string ThroughputOverTimePlot(const std::vector<Interval>& timeline);

// At most `limit` intervals: neighbours are made one.
std::vector<Interval> Shorten(const std::vector<Interval>& timeline, size_t limit);

}  // namespace gdnplan::load
