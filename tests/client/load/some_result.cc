// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/client/load/some_result.h"

#include <cmath>
#include <random>

namespace gdnplan::load {

Result SomeResult() {
  Result result;
  result.parameters = {{"tool", "gdnplan 1.2.3"},
                       {"server", "1.2.3"},
                       {"address", "unix:///run/gdnplan.sock"},
                       {"device_names", {"NVIDIA H200", "NVIDIA H200"}},
                       {"shape", {"spec=256,k=3,groups=4"}},
                       {"sessions", 2},
                       {"transport", "stream"},
                       {"rate", 400},
                       {"poisson", true},
                       {"stable", {{"percent", 5}, {"windows", 3}}}};
  std::mt19937 random(6);
  std::lognormal_distribution<double> usual(std::log(61e3), 0.12);
  std::uniform_real_distribution<double> part(0, 1);
  for (int second = 0; second < 60; ++second) {
    Interval interval{static_cast<double>(second), 1, {}, 0};
    const bool stalled = second == 30 || second == 31;
    const int plans = stalled ? 0 : second == 32 ? 1'200 : 380 + static_cast<int>(random() % 40);
    for (int i = 0; i < plans; ++i) {
      double service = usual(random);
      if (part(random) < 0.01) service *= 1 + 9 * part(random);
      const bool waited = second == 32 && i < 800;
      const double latency = service + (waited ? 2e9 * (1 - i / 800.0) : 0);
      interval.latency.Record(static_cast<int64_t>(latency));
      result.service.Record(static_cast<int64_t>(service));
      result.server.Record(static_cast<int64_t>(service * 0.3));
    }
    if (second >= 45 && second < 48) interval.errors = 20;
    result.errors["RESOURCE_EXHAUSTED"] += interval.errors;
    result.latency.Merge(interval.latency);
    result.timeline.push_back(interval);
  }
  result.seconds = 60;
  result.plans = result.latency.count();
  result.plans_by_kind = {{"spec decode", result.plans - 1'000}, {"mixed", 1'000}};
  result.skipped = 12;
  result.delayed = 345;
  result.request_bytes = result.plans * 20'000;
  result.plan_bytes = result.plans * 70'000;
  result.verified = 370;
  return result;
}

}  // namespace gdnplan::load
