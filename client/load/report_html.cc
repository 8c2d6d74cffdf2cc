// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/report_html.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/load/flatten.h"
#include "client/load/html_style.h"
#include "client/load/plots.h"
#include "client/load/report_text.h"
#include "client/load/svg.h"
#include "client/load/units.h"
#include "client/tool/text.h"

namespace gdnplan::load {
namespace {

// What ran where, in the order of the head's line.
constexpr std::array<std::string_view, 13> kHeadParameters = {
    "shape",       "trace",     "speed",   "concurrency",  "rate",   "poisson", "sessions",
    "connections", "transport", "address", "device_names", "server", "tool"};

using Cells = std::vector<std::string>;

// The first row is the head, each row's first cell its name.
std::string HtmlTable(const std::vector<Cells>& rows) {
  std::string html = "<div class=\"scroll\"><table>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    html += i == 0 ? "<thead><tr>" : "<tr>";
    for (size_t j = 0; j < rows[i].size(); ++j) {
      const std::string text = Escape(rows[i][j]);
      // A table's upper left corner names nothing.
      if (text.empty()) {
        html += "<td></td>";
      } else if (i == 0) {
        html += "<th scope=\"col\">" + text + "</th>";
      } else {
        html += j == 0 ? "<th scope=\"row\">" + text + "</th>" : "<td>" + text + "</td>";
      }
    }
    html += i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string Head(const std::vector<Parameter>& parameters) {
  std::string html;
  for (const std::string_view name : kHeadParameters) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [name](const Parameter& p) { return p.name == name; });
    if (found == parameters.end() || found->value.empty() || found->value == "-") continue;
    if (!html.empty()) html += " &#183; ";
    html += Escape(name) + " <b>" + Escape(found->value) + "</b>";
  }
  return html.empty() ? "" : "<p class=\"head\">" + html + "</p>\n";
}

std::string Tile(std::string_view name, std::string_view value, bool bad = false) {
  return absl::StrFormat("<div class=\"tile\"><span>%s</span><b%s>%s</b></div>\n", Escape(name),
                         bad ? " class=\"bad\"" : "", Escape(value));
}

std::string Tiles(const Result& result) {
  const auto latency = [&](double percentile) {
    return result.latency.count() == 0
               ? "-"
               : Latency(static_cast<double>(result.latency.Percentile(percentile)));
  };
  std::string html = "<div class=\"tiles\">\n";
  html += Tile("throughput", Rate(result.rate()) + " plans/s");
  if (result.objective_ns > 0) {
    html += Tile("goodput within " + Latency(static_cast<double>(result.objective_ns)),
                 Rate(result.goodput()) + " plans/s");
  }
  html += Tile("latency p50", latency(50)) + Tile("latency p99", latency(99)) +
          Tile("latency maximum", latency(100));
  html += Tile("errors", Grouped(result.num_errors()), result.num_errors() != 0);
  if (result.mismatches != 0) html += Tile("mismatches", Grouped(result.mismatches), true);
  return html + "</div>\n";
}

void AddLatency(std::string_view name, const Histogram& latency, std::vector<Cells>& rows) {
  if (latency.count() == 0) return;
  Cells row = {std::string(name), Grouped(latency.count()),
               Latency(static_cast<double>(latency.min_ns())), Latency(latency.mean_ns())};
  for (const double percentile : {50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    row.push_back(Latency(static_cast<double>(latency.Percentile(percentile))));
  }
  rows.push_back(std::move(row));
}

std::string LatencyTable(const Result& result) {
  std::vector<Cells> rows = {
      {"", "plans", "min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"}};
  if (result.service == result.latency || result.service.count() == 0) {
    AddLatency("client", result.latency, rows);
  } else {
    AddLatency("from intended start", result.latency, rows);
    AddLatency("from actual start", result.service, rows);
  }
  AddLatency("server's own part", result.server, rows);
  return rows.size() == 1 ? "" : HtmlTable(rows);
}

std::string CountsTable(const Result& result) {
  std::vector<Cells> rows = {{"", "count", "share", "a second"}};
  const auto add = [&](const std::string& name, uint64_t count, uint64_t whole) {
    const auto value = static_cast<double>(count);
    rows.push_back({name, Grouped(count), Percent(value, static_cast<double>(whole)),
                    result.served_s() > 0 ? Rate(result.PerSecond(value)) : "-"});
  };
  const uint64_t answers = result.plans + result.num_errors();
  add("plans", result.plans, answers);
  for (const auto& [kind, count] : result.plans_by_kind) add("plans: " + kind, count, answers);
  for (const auto& [code, count] : result.errors) add("error: " + code, count, answers);
  const uint64_t starts = answers + result.skipped;
  if (result.skipped != 0) add("starts skipped, due and never made", result.skipped, starts);
  if (result.delayed != 0) add("starts over 1 ms late", result.delayed, starts);
  if (result.verified != 0) {
    add("verified", result.verified, result.plans);
    add("mismatches", result.mismatches, result.verified);
  }
  return HtmlTable(rows);
}

std::string BytesTable(const Result& result) {
  if (result.plans == 0) return "";
  std::vector<Cells> rows = {{"", "total", "a second", "a plan"}};
  const auto add = [&](const char* name, uint64_t bytes) {
    rows.push_back({name, tool::Bytes(bytes),
                    tool::Bytes(ToCount(result.PerSecond(static_cast<double>(bytes)))),
                    tool::Bytes(bytes / result.plans)});
  };
  add("bytes of batches", result.request_bytes);
  add("bytes of plans", result.plan_bytes);
  return HtmlTable(rows);
}

std::string Section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : "<h2>" + Escape(title) + "</h2>\n" + body;
}

std::string FigureHtml(std::string_view title, std::string_view caption, const std::string& plot) {
  return absl::StrFormat("<h2>%s</h2>\n<figure><figcaption>%s</figcaption>\n%s</figure>\n",
                         Escape(title), Escape(caption), plot);
}

std::string Plots(const Result& result) {
  std::string html;
  if (result.latency.count() == 0) {
    html += "<p class=\"note\">No plan was answered: there is no latency to show.</p>\n";
  } else {
    html +=
        FigureHtml("Latency distribution",
                   "The share of plans by latency, on a logarithmic scale, with the percentiles.",
                   LatencyDistributionPlot(result.latency));
  }
  if (result.timeline.empty()) return html;
  html += FigureHtml("Latency over time", "Of each interval, on a logarithmic scale.",
                     LatencyOverTimePlot(result.timeline));
  return html + FigureHtml("Throughput over time", "Answers a second in each interval.",
                           ThroughputOverTimePlot(result.timeline));
}

std::string ParameterTable(const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return "";
  std::string html = "<table class=\"words\"><tbody>\n";
  for (const Parameter& parameter : parameters) {
    html += "<tr><th scope=\"row\">" + Escape(parameter.name) + "</th><td>" +
            Escape(parameter.value) + "</td></tr>\n";
  }
  return html + "</tbody></table>\n";
}

}  // namespace

std::string ToHtml(const Result& result) {
  const std::vector<Parameter> parameters = Flatten(result.parameters);
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>gdnplan load</title>\n<style>",
      kHtmlStyle, "</style>\n</head>\n<body>\n<h1>gdnplan load</h1>\n");
  html += Head(parameters);
  html += Tiles(result);
  html += absl::StrFormat("<p class=\"note\">Measured for %.1f s, the warm-up left out.</p>\n",
                          result.seconds);
  if (result.lost_after_s.has_value()) {
    html += absl::StrFormat(
        "<p class=\"note\">All sessions were lost after %.1f s: rates are of the time "
        "before.</p>\n",
        *result.lost_after_s);
  }
  for (const std::string& failure : FormatFailures(result)) {
    html += "<p class=\"note bad\">" + Escape(failure) + "</p>\n";
  }
  html += Section("Latency", LatencyTable(result));
  html += Plots(result);
  html += Section("Counts", CountsTable(result));
  html += Section("Bytes", BytesTable(result));
  html += Section("Parameters", ParameterTable(parameters));
  return html + "</body>\n</html>\n";
}

}  // namespace gdnplan::load
