// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/sweep.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "client/load/units.h"
#include "client/tool/text.h"

namespace gdnplan::load {
namespace {

double Power(const SweepRow& row) {
  if (row.errors != 0 || row.skipped != 0 || row.p99_ns <= 0) return 0;
  return row.rate / static_cast<double>(row.p99_ns);
}

std::string Explain(std::string_view parameter, const std::vector<SweepRow>& rows,
                    std::optional<size_t> knee) {
  if (rows.size() < 3) return "A knee shows with three rows or more.\n";
  if (!knee.has_value()) return "No knee: no row is free of errors and skipped starts.\n";
  const std::string at = std::string(parameter) + "=" + rows[*knee].value;
  if (*knee + 1 == rows.size()) {
    return "No knee up to " + at + ": the rate still grows as fast as p99. Sweep further.\n";
  }
  if (*knee == 0) {
    return "The knee is at " + at + " or below: p99 grows faster than the rate from there on.\n";
  }
  return "The knee is at " + at + ": beyond it p99 grows faster than the rate.\n";
}

}  // namespace

SweepRow MakeSweepRow(std::string value, const Result& result) {
  return {std::move(value),
          result.rate(),
          result.latency.Percentile(50),
          result.latency.Percentile(99),
          result.num_errors(),
          result.skipped};
}

std::optional<size_t> FindKnee(const std::vector<SweepRow>& rows) {
  if (rows.size() < 3) return std::nullopt;
  constexpr double kNoise = 0.05;
  double greatest = 0;
  for (const SweepRow& row : rows) greatest = std::max(greatest, Power(row));
  if (!(greatest > 0)) return std::nullopt;
  size_t knee = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (Power(rows[i]) >= greatest * (1 - kNoise)) knee = i;
  }
  return knee;
}

std::string FormatSweep(std::string_view parameter, const std::vector<SweepRow>& rows) {
  constexpr auto kToTheRight = tool::Table::Align::kRight;
  tool::Table table({{std::string(parameter), kToTheRight},
                     {"plans/s", kToTheRight},
                     {"p50", kToTheRight},
                     {"p99", kToTheRight},
                     {"errors", kToTheRight},
                     {"skipped", kToTheRight},
                     {""}});
  const std::optional<size_t> knee = FindKnee(rows);
  // At the last row it is none yet.
  const bool marked = knee.has_value() && *knee + 1 < rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    table.AddRow({row.value, Rate(row.rate), Latency(static_cast<double>(row.p50_ns)),
                  Latency(static_cast<double>(row.p99_ns)), Grouped(row.errors),
                  Grouped(row.skipped), marked && i == *knee ? "<- knee" : ""});
  }
  std::ostringstream out;
  table.Print(out);
  out << '\n' << Explain(parameter, rows, knee);
  return out.str();
}

}  // namespace gdnplan::load
