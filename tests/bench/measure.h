// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Times and what is said of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace gdnplan::bench {

using Clock = std::chrono::steady_clock;

inline double Microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

struct Percentiles {
  double median_us = 0;
  double p99_us = 0;
};

// Sorts the values. Of none: zeros.
inline Percentiles Summarize(std::vector<double>& values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 99 / 100]};
}

}  // namespace gdnplan::bench
