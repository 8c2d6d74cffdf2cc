// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/chart.h"

#include <utility>

namespace gdnplan::load {
namespace {

constexpr double kHeight = 230;
// Below the area: the ticks' labels and the axis's title.
constexpr double kBelow = 44;

}  // namespace

Chart::Chart(Axis x, Axis y, double above, const Text& text)
    : x_(std::move(x)),
      y_(std::move(y)),
      area_{kLeft, above, kRight - kLeft, kHeight},
      svg_(kWidth, above + kHeight + kBelow, text.description) {
  DrawAxes(text);
}

void Chart::DrawAxes(const Text& text) {
  for (const Axis::Tick& tick : y_.ticks()) {
    const double y = Y(tick.value);
    svg_.Line({area_.x, y}, {area_.right(), y}, "grid");
    svg_.Text({area_.x - 8, y + 4}, Svg::Anchor::kEnd, "tick", tick.label);
  }
  double taken = 0;
  for (const Axis::Tick& tick : x_.ticks()) {
    const double x = X(tick.value);
    svg_.Line({x, area_.y}, {x, area_.bottom()}, "grid");
    // The drawing ends soon after the area, and ticks may be close to each other.
    const double half = kCharacter * static_cast<double>(tick.label.size()) / 2;
    if (x - half < taken || x + half > kWidth) continue;
    svg_.Text({x, area_.bottom() + 17}, Svg::Anchor::kMiddle, "tick", tick.label);
    taken = x + half + kCharacter;
  }
  svg_.Line({area_.x, area_.bottom()}, {area_.right(), area_.bottom()}, "axis");
  svg_.Text({area_.x + area_.width / 2, area_.bottom() + 36}, Svg::Anchor::kMiddle, "label",
            text.x_title);
  // Above the axis, not turned: nobody needs to tilt the head.
  svg_.Text({8, area_.y - 10}, Svg::Anchor::kStart, "label", text.y_title);
}

void Chart::Legend(const std::vector<LegendEntry>& entries) {
  double x = area_.right();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    x -= kCharacter * static_cast<double>(entry->text.size());
    svg_.Text({x, area_.y - 10}, Svg::Anchor::kStart, "label", entry->text);
    svg_.Line({x - 30, area_.y - 14}, {x - 6, area_.y - 14}, entry->classes);
    x -= 48;
  }
}

}  // namespace gdnplan::load
