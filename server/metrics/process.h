// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the process itself uses, by the names that Prometheus' client libraries share.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace gdnplan::server {

// What /proc does not tell is left out. Thread safe.
void AppendProcessMetrics(std::vector<prometheus::MetricFamily>& families);

}  // namespace gdnplan::server
