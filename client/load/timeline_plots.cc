// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/load/chart.h"
#include "client/load/plots.h"
#include "client/load/units.h"

namespace gdnplan::load {
namespace {

constexpr double kAbove = 34;
// More would lie on top of each other.
constexpr size_t kMostIntervals = 400;
constexpr size_t kMostPoints = 100;

constexpr const char* kTimeTitle = "seconds since the end of the warm-up";

double End(const Interval& interval) { return interval.start_s + interval.seconds; }
double Middle(const Interval& interval) { return interval.start_s + interval.seconds / 2; }

std::string Seconds(double seconds) { return absl::StrFormat("%.6g", seconds); }

std::string When(const Interval& interval) {
  return absl::StrCat(Seconds(interval.start_s), " s to ", Seconds(End(interval)), " s: ");
}

Axis TimeAxis(const std::vector<Interval>& timeline) {
  return Axis::Linear(timeline.empty() ? 0 : End(timeline.back()), Axis::Top::kExact, Seconds);
}

struct Series {
  std::string name;
  std::string classes;
  double radius = 0;  // of its points, which may lie on each other
  int64_t (*ns)(const Histogram& latency) = nullptr;
};

// The later ones are drawn on the earlier ones.
const std::vector<Series>& LatencySeries() {
  static const std::vector<Series> series = {
      {"max", "line top", 4, [](const Histogram& latency) { return latency.max_ns(); }},
      {"p99", "line high", 3, [](const Histogram& latency) { return latency.Percentile(99); }},
      {"p50", "line low", 2, [](const Histogram& latency) { return latency.Percentile(50); }}};
  return series;
}

// A line for each run of intervals that have answers.
void DrawSeries(Chart& chart, const std::vector<Interval>& timeline, const Series& series) {
  const bool few = timeline.size() <= kMostPoints;
  std::vector<Point> line;
  const auto end_line = [&] {
    if (line.size() > 1) chart.svg().Polyline(line, series.classes);
    line.clear();
  };
  std::vector<std::pair<Point, std::string>> points;
  for (size_t i = 0; i < timeline.size(); ++i) {
    const Histogram& latency = timeline[i].latency;
    if (latency.count() == 0) {
      end_line();
      continue;
    }
    const auto ns = static_cast<double>(series.ns(latency));
    line.push_back({chart.X(Middle(timeline[i])), chart.Y(ns)});
    const bool alone =
        line.size() == 1 && (i + 1 == timeline.size() || timeline[i + 1].latency.count() == 0);
    if (few || alone) {
      points.emplace_back(line.back(),
                          absl::StrCat(When(timeline[i]), series.name, " ", Latency(ns)));
    }
  }
  end_line();
  for (const auto& [point, title] : points) {
    chart.svg().Circle(point, series.radius, absl::StrCat("point ", series.classes), title);
  }
}

struct Rates {
  double plans = 0;
  double errors = 0;
};

Rates RatesOf(const Interval& interval) {
  if (!(interval.seconds > 0)) return {};
  return {static_cast<double>(interval.latency.count()) / interval.seconds,
          static_cast<double>(interval.errors) / interval.seconds};
}

}  // namespace

std::vector<Interval> Shorten(const std::vector<Interval>& timeline, size_t limit) {
  const size_t together = (timeline.size() + limit - 1) / limit;
  if (together <= 1) return timeline;
  std::vector<Interval> shorter;
  for (size_t i = 0; i < timeline.size(); ++i) {
    if (i % together == 0) {
      shorter.push_back(timeline[i]);
      continue;
    }
    Interval& interval = shorter.back();
    interval.seconds = End(timeline[i]) - interval.start_s;
    interval.latency.Merge(timeline[i].latency);
    interval.errors += timeline[i].errors;
  }
  return shorter;
}

std::string LatencyOverTimePlot(const std::vector<Interval>& full_timeline) {
  const std::vector<Interval> timeline = Shorten(full_timeline, kMostIntervals);
  Histogram all;
  int64_t lowest = 0;
  for (const Interval& interval : timeline) {
    if (interval.latency.count() == 0) continue;
    const int64_t p50 = interval.latency.Percentile(50);
    lowest = all.count() == 0 ? p50 : std::min(lowest, p50);
    all.Merge(interval.latency);
  }
  const Chart::Text text{
      {"latency-over-time", "Latency over time",
       absl::StrCat("p50 of each interval ", Latency(static_cast<double>(lowest)),
                    " or more, maximum ", Latency(static_cast<double>(all.max_ns())))},
      kTimeTitle,
      "latency"};
  Chart chart(
      TimeAxis(timeline),
      Axis::Log(static_cast<double>(lowest), static_cast<double>(all.max_ns()), ShortLatency),
      kAbove, text);
  std::vector<Chart::LegendEntry> legend;
  for (const Interval& interval : timeline) {
    if (interval.latency.count() != 0) continue;
    const double x = chart.X(interval.start_s);
    chart.svg().Rect({x, chart.area().y, chart.X(End(interval)) - x, chart.area().height}, "silent",
                     absl::StrCat(When(interval), "no answer"));
    if (legend.empty()) legend.push_back({"silent-key", "no answer"});
  }
  for (const Series& series : LatencySeries()) {
    DrawSeries(chart, timeline, series);
    legend.push_back({series.classes, series.name});
  }
  chart.Legend(legend);
  return chart.Finish();
}

std::string ThroughputOverTimePlot(const std::vector<Interval>& full_timeline) {
  const std::vector<Interval> timeline = Shorten(full_timeline, kMostIntervals);
  Rates most;
  double least = timeline.empty() ? 0 : RatesOf(timeline.front()).plans;
  for (const Interval& interval : timeline) {
    const Rates rates = RatesOf(interval);
    most.plans = std::max(most.plans, rates.plans);
    most.errors = std::max(most.errors, rates.errors);
    least = std::min(least, rates.plans);
  }
  const Chart::Text text{
      {"throughput-over-time", "Throughput over time",
       absl::StrCat("between ", Rate(least), " and ", Rate(most.plans), " plans a second, at most ",
                    Rate(most.errors), " errors a second")},
      kTimeTitle,
      "per second"};
  Chart chart(TimeAxis(timeline),
              Axis::Linear(std::max(most.plans, most.errors), Axis::Top::kTick, ShortCount), kAbove,
              text);
  const Box& area = chart.area();
  std::vector<Point> outline;
  for (const Interval& interval : timeline) {
    const double y = chart.Y(RatesOf(interval).plans);
    outline.push_back({chart.X(interval.start_s), y});
    outline.push_back({chart.X(End(interval)), y});
  }
  if (!outline.empty()) {
    std::vector<Point> filled = outline;
    filled.push_back({outline.back().x, area.bottom()});
    filled.push_back({outline.front().x, area.bottom()});
    chart.svg().Polygon(filled, "area");
    chart.svg().Polyline(outline, "line low");
  }
  for (const Interval& interval : timeline) {
    const Rates rates = RatesOf(interval);
    const double x = chart.X(interval.start_s);
    const double width = chart.X(End(interval)) - x;
    if (interval.errors != 0) {
      const double height = std::max(area.bottom() - chart.Y(rates.errors), 3.0);
      chart.svg().Rect({x, area.bottom() - height, width, height}, "errors");
    }
    // Clear, over the whole height: where the pointer may rest.
    chart.svg().Rect({x, area.y, width, area.height}, "clear",
                     absl::StrCat(When(interval), Rate(rates.plans), " plans/s, ",
                                  Grouped(interval.errors), " errors"));
  }
  chart.Legend({{"line low", "plans"}, {"line errors-key", "errors"}});
  return chart.Finish();
}

}  // namespace gdnplan::load
