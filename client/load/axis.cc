// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/axis.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace gdnplan::load {
namespace {

// 1, 2 or 5 times a power of ten, so that about `count` of them make the length.
double NiceStep(double length, int count) {
  const double rough = length / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis Axis::Linear(double high, Top top, Label label) {
  if (!(high > 0)) high = 1;
  const double step = NiceStep(high, 6);
  if (top == Top::kTick) high = std::ceil(high / step - 1e-9) * step;
  Axis axis(0, high, false);
  for (int i = 0; i * step <= high * (1 + 1e-9); ++i) axis.AddTick(i * step, label);
  return axis;
}

Axis Axis::Log(double low, double high, Label label) {
  low = std::max(low, 1.0);
  high = std::max(high, low);
  const double margin = std::pow(std::max(high / low, 1.26), 0.03);
  const double widen = std::max(1.0, std::sqrt(1.26 / (high / low)));
  Axis axis(std::max(low / widen / margin, 0.5), high * widen * margin, true);

  const double decades = std::log10(axis.high_ / axis.low_);
  std::vector<double> factors = {1};
  if (decades < 3.5) factors = {1, 2, 5};
  for (double power = std::floor(std::log10(axis.low_)); power <= std::log10(axis.high_); ++power) {
    for (const double factor : factors) axis.AddTick(factor * std::pow(10, power), label);
  }
  if (axis.ticks_.size() < 3) {
    // Within less than a decade even steps read better.
    axis.ticks_.clear();
    const double step = NiceStep(axis.high_ - axis.low_, 6);
    const double first = std::ceil(axis.low_ / step);
    for (int i = 0; (first + i) * step <= axis.high_; ++i) axis.AddTick((first + i) * step, label);
  }
  return axis;
}

double Axis::Position(double value) const {
  const double position = log_ ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_)
                               : (value - low_) / (high_ - low_);
  return std::clamp(position, 0.0, 1.0);
}

double Axis::At(double position) const {
  return log_ ? low_ * std::pow(high_ / low_, position) : low_ + (high_ - low_) * position;
}

void Axis::AddTick(double value, Label label) {
  if (value >= low_ && value <= high_ * (1 + 1e-9)) ticks_.push_back({value, label(value)});
}

}  // namespace gdnplan::load
