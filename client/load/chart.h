// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A drawing with two axes and what every plot has: grid, labels, legend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/load/axis.h"
#include "client/load/svg.h"

namespace gdnplan::load {

class Chart {
 public:
  struct Text {
    Svg::Description description;
    std::string x_title;
    std::string y_title;
  };
  // In the order of their drawing; the class of a swatch is that of the data.
  struct LegendEntry {
    std::string classes;
    std::string text;
  };

  // `above`: the height to leave above the plot's area, for its legend or marks.
  Chart(Axis x, Axis y, double above, const Text& text);

  Svg& svg() { return svg_; }
  const Axis& x() const { return x_; }
  const Box& area() const { return area_; }
  double X(double value) const { return area_.x + area_.width * x_.Position(value); }
  double Y(double value) const { return area_.bottom() - area_.height * y_.Position(value); }

  void Legend(const std::vector<LegendEntry>& entries);
  std::string Finish() const { return svg_.Finish(); }

  static constexpr double kWidth = 900;
  // The plot's area, from left to right.
  static constexpr double kLeft = 76;
  static constexpr double kRight = 882;
  // About that of a character.
  static constexpr double kCharacter = 7;

 private:
  void DrawAxes(const Text& text);

  Axis x_;
  Axis y_;
  Box area_;
  Svg svg_;
};

}  // namespace gdnplan::load
