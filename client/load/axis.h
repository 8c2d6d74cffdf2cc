// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A plot's axis: where values lie on it, and which of them to name.
#pragma once

#include <string>
#include <vector>

namespace gdnplan::load {

class Axis {
 public:
  using Label = std::string (*)(double value);
  struct Tick {
    double value = 0;
    std::string label;
  };

  // From 0 to `high`, or to the tick above it. Not positive: to 1.
  enum class Top { kExact, kTick };
  static Axis Linear(double high, Top top, Label label);
  // From `low` to `high`, a little more on both sides, and never less than a tenth of a decade.
  // What is below 1 counts as 1.
  static Axis Log(double low, double high, Label label);

  double low() const { return low_; }
  double high() const { return high_; }
  // Of the whole length: 0..1, also for values beside the axis.
  double Position(double value) const;
  // The inverse.
  double At(double position) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  Axis(double low, double high, bool log) : low_(low), high_(high), log_(log) {}
  void AddTick(double value, Label label);

  double low_;
  double high_;
  bool log_;
  std::vector<Tick> ticks_;
};

}  // namespace gdnplan::load
