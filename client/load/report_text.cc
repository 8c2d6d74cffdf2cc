// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/report_text.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/load/units.h"
#include "client/tool/text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

using tool::Bytes;
using tool::OneLine;
using tool::Table;

constexpr auto kRight = Table::Align::kRight;

void AddLatency(Table& table, const char* name, const Histogram& latency) {
  if (latency.count() == 0) return;
  std::vector<std::string> row = {name};
  for (const double percentile : {50.0, 90.0, 99.0, 99.9, 99.99}) {
    row.push_back(Latency(static_cast<double>(latency.Percentile(percentile))));
  }
  row.push_back(Latency(static_cast<double>(latency.max_ns())));
  row.push_back(Latency(latency.mean_ns()));
  table.AddRow(std::move(row));
}

void PrintLatency(const Result& result, std::ostream& out) {
  if (result.latency.count() == 0) return;
  out << "\nlatency\n";
  Table table({{""},
               {"p50", kRight},
               {"p90", kRight},
               {"p99", kRight},
               {"p99.9", kRight},
               {"p99.99", kRight},
               {"max", kRight},
               {"mean", kRight}});
  if (result.service == result.latency || result.service.count() == 0) {
    AddLatency(table, "client", result.latency);
  } else {
    AddLatency(table, "from intended start", result.latency);
    AddLatency(table, "from actual start", result.service);
  }
  AddLatency(table, "server's own part", result.server);
  table.Print(out);
}

void PrintCounts(const char* title, const std::map<std::string, uint64_t>& counts, uint64_t all,
                 std::ostream& out) {
  if (counts.empty()) return;
  out << '\n' << title << '\n';
  Table table({{""}, {"", kRight}, {"", kRight}});
  for (const auto& [name, count] : counts) {
    table.AddRow({OneLine(name), Grouped(count),
                  Percent(static_cast<double>(count), static_cast<double>(all))});
  }
  // Without the line that the titles would take.
  std::ostringstream lines;
  table.Print(lines);
  out << lines.str().substr(lines.str().find('\n') + 1);
}

void PrintBytes(const Result& result, std::ostream& out) {
  if (result.plans == 0) return;
  out << "\nbytes\n";
  Table table({{""}, {"total", kRight}, {"a second", kRight}, {"a plan", kRight}});
  const auto add = [&](const char* name, uint64_t bytes) {
    table.AddRow({name, Bytes(bytes), Bytes(ToCount(result.PerSecond(static_cast<double>(bytes)))),
                  Bytes(bytes / result.plans)});
  };
  add("batches", result.request_bytes);
  add("plans", result.plan_bytes);
  table.Print(out);
}

// "2.0 s", or what of it counts.
std::string Served(const Result& result) {
  if (!result.lost_after_s.has_value()) return absl::StrFormat("%.1f s", result.seconds);
  return absl::StrFormat("the first %.1f of %.1f s, until all sessions were lost",
                         *result.lost_after_s, result.seconds);
}

bool IsOfServer(const Failure& failure) {
  return failure.code == "UNAVAILABLE" || failure.code == "NOT_FOUND" ||
         failure.code == "DEADLINE_EXCEEDED";
}

std::string Reason(const Result& result, const Failure& failure) {
  return ErrorText(failure.code, failure.reason, failure.call, result.address);
}

std::string Text(const Result& result, const Failure& failure) {
  const std::string what = failure.plans == 0
                               ? "got no plan"
                               : absl::StrFormat("was lost after %.1f s", failure.after_s);
  return OneLine(
      absl::StrCat("session ", failure.session, " ", what, ": ", Reason(result, failure)));
}

}  // namespace

std::string ErrorText(std::string_view code, std::string_view reason, std::string_view call,
                      std::string_view address) {
  return absl::StrCat(plan::ToAbsl(code), ": ", plan::ToAbsl(reason), " (", plan::ToAbsl(call),
                      " at ", plan::ToAbsl(address), ")");
}

std::vector<std::string> FormatFailures(const Result& result) {
  constexpr size_t kShown = 3;
  const std::vector<Failure>& failures = result.failures;
  if (result.lost_after_s.has_value() && !failures.empty() && IsOfServer(failures.front())) {
    return {OneLine(absl::StrFormat(
        "the server was lost after %.1f s: %s; its log or its supervisor's may say why, gdnplan "
        "health whether one serves there now",
        *result.lost_after_s, Reason(result, failures.front())))};
  }
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(failures.size(), kShown); ++i) {
    lines.push_back(Text(result, failures[i]));
  }
  if (failures.size() > kShown) {
    lines.push_back(absl::StrCat(failures.size() - kShown, " more sessions failed"));
  }
  return lines;
}

std::string FormatReport(const Result& result) {
  std::ostringstream out;
  out << "throughput  " << Rate(result.rate()) << " plans/s (" << Grouped(result.plans)
      << " plans in " << Served(result) << ")\n";
  if (result.objective_ns > 0) {
    const auto within = static_cast<double>(result.latency.CountAtMost(result.objective_ns));
    out << "goodput     " << Rate(result.goodput()) << " plans/s within "
        << Latency(static_cast<double>(result.objective_ns)) << " ("
        << Percent(within, static_cast<double>(result.plans)) << ")\n";
  }
  out << "errors      " << (result.errors.empty() ? "none" : Grouped(result.num_errors())) << '\n';
  if (result.skipped != 0 || result.delayed != 0) {
    out << "starts      " << Grouped(result.skipped) << " skipped (due and never made), "
        << Grouped(result.delayed) << " more than 1 ms late\n";
  }
  if (result.verified != 0) {
    out << "verified    " << Grouped(result.verified) << " plans, "
        << (result.mismatches == 0 ? "no mismatch"
                                   : absl::StrCat(Grouped(result.mismatches), " MISMATCHES"))
        << '\n';
  }
  PrintLatency(result, out);
  PrintCounts("plans by kind", result.plans_by_kind, result.plans, out);
  PrintBytes(result, out);
  PrintCounts("errors by code", result.errors, result.plans + result.num_errors(), out);
  return out.str();
}

std::string FormatProgress(const Progress& progress) {
  const std::string left =
      progress.left_s.has_value() ? absl::StrCat("  left ", Clock(*progress.left_s)) : "";
  return absl::StrFormat("%6s  %9s/s  p50 %7s  p99 %7s  errors %s%s%-8s", Clock(progress.elapsed_s),
                         Rate(progress.rate), Latency(static_cast<double>(progress.p50_ns)),
                         Latency(static_cast<double>(progress.p99_ns)), Grouped(progress.errors),
                         left, progress.warm_up ? "  warm-up" : "");
}

}  // namespace gdnplan::load
