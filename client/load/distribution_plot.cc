// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/load/chart.h"
#include "client/load/plots.h"
#include "client/load/units.h"

namespace gdnplan::load {
namespace {

struct Mark {
  const char* name = "";
  int64_t ns = 0;
  size_t row = 0;
};

std::string Text(const Mark& mark) {
  return absl::StrCat(mark.name, " ", Latency(static_cast<double>(mark.ns)));
}

constexpr double kRowHeight = 15;

double LineX(const Axis& axis, const Mark& mark) {
  return Chart::kLeft +
         (Chart::kRight - Chart::kLeft) * axis.Position(static_cast<double>(mark.ns));
}

// Where its text ends: left of its line, unless there is no room.
double TextEnd(const Axis& axis, const Mark& mark) {
  const double width = Chart::kCharacter * static_cast<double>(Text(mark).size());
  return std::max(LineX(axis, mark) - 4, width);
}

std::vector<Mark> MakeMarks(const Histogram& latency) {
  return {{"p50", latency.Percentile(50)},       {"p90", latency.Percentile(90)},
          {"p99", latency.Percentile(99)},       {"p99.9", latency.Percentile(99.9)},
          {"p99.99", latency.Percentile(99.99)}, {"max", latency.max_ns()}};
}

// From the largest down: each mark goes below those whose texts are in the way of its own text or
// of its line. Returns the rows.
size_t PlaceInRows(const Axis& axis, std::vector<Mark>& marks) {
  std::vector<double> begin;  // of each row's leftmost text
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    const double line = LineX(axis, *mark);
    for (size_t row = 0; row < begin.size(); ++row) {
      if (begin[row] < line + Chart::kCharacter) mark->row = row + 1;
    }
    begin.resize(std::max(begin.size(), mark->row + 1));
    begin[mark->row] =
        TextEnd(axis, *mark) - Chart::kCharacter * static_cast<double>(Text(*mark).size());
  }
  return begin.size();
}

// The counts in bars of equal width on the axis. A bucket that reaches over several is divided by
// its overlap with them, or bars would stand and fall with how many buckets they meet.
std::vector<double> MakeBars(const Axis& axis, const Histogram& latency) {
  constexpr double kMostBars = 140;
  constexpr double kWidestBucket = 1.0 / 128;
  const double fit = std::log(axis.high() / axis.low()) / (2 * kWidestBucket);
  std::vector<double> bars(static_cast<size_t>(std::clamp(fit, 1.0, kMostBars)));
  const auto size = static_cast<double>(bars.size());
  for (const Histogram::Bucket& bucket : latency.NonEmpty()) {
    const double from = axis.Position(static_cast<double>(bucket.low_ns)) * size;
    const double to = axis.Position(static_cast<double>(bucket.high_ns)) * size;
    const auto first = std::min(static_cast<size_t>(from), bars.size() - 1);
    const auto count = static_cast<double>(bucket.count);
    if (!(to - from > 0)) {
      bars[first] += count;
      continue;
    }
    for (size_t i = first; i < bars.size() && static_cast<double>(i) < to; ++i) {
      const double begin = std::max(from, static_cast<double>(i));
      const double end = std::min(to, static_cast<double>(i + 1));
      bars[i] += count * (end - begin) / (to - from);
    }
  }
  return bars;
}

std::string ShortPercent(double value) { return ShortCount(value) + " %"; }

}  // namespace

std::string LatencyDistributionPlot(const Histogram& latency) {
  Axis axis = Axis::Log(static_cast<double>(latency.min_ns()),
                        static_cast<double>(latency.max_ns()), ShortLatency);
  std::vector<Mark> marks = MakeMarks(latency);
  const size_t rows = PlaceInRows(axis, marks);
  const std::vector<double> bars = MakeBars(axis, latency);
  const auto total = static_cast<double>(latency.count());
  const double highest = 100 * *std::max_element(bars.begin(), bars.end()) / total;

  Chart::Text text{{"distribution", "Latency distribution", ""}, "latency", "plans"};
  for (const Mark& mark : marks) {
    absl::StrAppend(&text.description.text, Text(mark), mark.ns == latency.max_ns() ? "" : ", ");
  }
  // The axis's title has the line below the marks' texts.
  const double above = kRowHeight * static_cast<double>(rows) + 28;
  Chart chart(std::move(axis), Axis::Linear(highest, Axis::Top::kTick, ShortPercent), above, text);
  const Box& area = chart.area();
  const double width = area.width / static_cast<double>(bars.size());
  for (size_t i = 0; i < bars.size(); ++i) {
    if (bars[i] <= 0) continue;
    // Seen however few there are: the tail is what people look for.
    const double height = std::max(area.bottom() - chart.Y(100 * bars[i] / total), 1.5);
    const double from = static_cast<double>(i) / static_cast<double>(bars.size());
    const double to = static_cast<double>(i + 1) / static_cast<double>(bars.size());
    chart.svg().Rect(
        {area.x + width * static_cast<double>(i), area.bottom() - height, width * 0.92, height},
        "bar",
        absl::StrCat(Latency(chart.x().At(from)), " to ", Latency(chart.x().At(to)), ": ",
                     Percent(bars[i], total)));
  }
  for (const Mark& mark : marks) {
    const double x = chart.X(static_cast<double>(mark.ns));
    const double y = 12 + kRowHeight * static_cast<double>(mark.row);
    chart.svg().Line({x, y - 9}, {x, area.bottom()}, "mark");
    chart.svg().Text({TextEnd(chart.x(), mark), y}, Svg::Anchor::kEnd, "label", Text(mark));
  }
  return chart.Finish();
}

}  // namespace gdnplan::load
