// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gdnplan::load {
namespace {

struct Scaled {
  double value = 0;
  const char* unit = "";
};

// What three digits would print as 1000 belongs to the next unit.
template <size_t N>
Scaled Scale(double value, const std::array<const char*, N>& units) {
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < N) {
    value /= 1000;
    ++unit;
  }
  return {value, units[unit]};
}

constexpr std::array<const char*, 4> kTimeUnits = {"ns", "us", "ms", "s"};

std::string ThreeDigits(double value) {
  return absl::StrFormat("%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

}  // namespace

std::string Latency(double ns) {
  const Scaled scaled = Scale(ns, kTimeUnits);
  // Nanoseconds are whole.
  return absl::StrCat(ns < 999.5 ? absl::StrFormat("%.0f", ns) : ThreeDigits(scaled.value), " ",
                      scaled.unit);
}

std::string ShortLatency(double ns) {
  const Scaled scaled = Scale(ns, kTimeUnits);
  return absl::StrFormat("%.4g %s", scaled.value, scaled.unit);
}

uint64_t ToCount(double value) { return static_cast<uint64_t>(std::clamp(value, 0.0, 1e19)); }

std::string Grouped(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string Rate(double per_second) {
  if (per_second >= 999.5) return Grouped(ToCount(per_second + 0.5));
  // A few in an hour are not none.
  if (per_second > 0 && per_second < 0.1) return absl::StrFormat("%.2g", per_second);
  return ThreeDigits(per_second);
}

std::string ShortCount(double count) {
  constexpr std::array<const char*, 7> kUnits = {"", "k", "M", "G", "T", "P", "E"};
  const Scaled scaled = Scale(count, kUnits);
  return absl::StrFormat("%.4g%s", scaled.value, scaled.unit);
}

std::string Percent(double part, double whole) {
  const double percent = whole > 0 ? 100 * part / whole : 0;
  return percent > 0 && percent < 0.01 ? "< 0.01 %" : absl::StrCat(ThreeDigits(percent), " %");
}

std::string Clock(double seconds) {
  const auto total = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e15) + 0.5);
  const int64_t minutes = total / 60;
  if (minutes < 60) return absl::StrFormat("%d:%02d", minutes, total % 60);
  return absl::StrFormat("%d:%02d:%02d", minutes / 60, minutes % 60, total % 60);
}

}  // namespace gdnplan::load
