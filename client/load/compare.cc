// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/compare.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/json/json_reader.h"
#include "client/load/flatten.h"
#include "client/load/report_json.h"
#include "client/load/units.h"
#include "client/tool/text.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

using Json = nlohmann::ordered_json;
using tool::OneLine;
using tool::Table;

struct Figure {
  const char* name;
  const char* pointer;
  std::string (*text)(double value);
};

std::string Count(double value) { return Grouped(ToCount(value)); }
std::string PerSecond(double value) { return Rate(value) + "/s"; }
std::string ByteRate(double value) { return tool::Bytes(ToCount(value)) + "/s"; }

constexpr std::array<Figure, 19> kFigures = {{{"throughput", "/plans_per_s", PerSecond},
                                              {"goodput", "/goodput_per_s", PerSecond},
                                              {"latency p50", "/latency/ns/p50", Latency},
                                              {"latency p90", "/latency/ns/p90", Latency},
                                              {"latency p99", "/latency/ns/p99", Latency},
                                              {"latency p99.9", "/latency/ns/p99.9", Latency},
                                              {"latency p99.99", "/latency/ns/p99.99", Latency},
                                              {"latency max", "/latency/ns/max", Latency},
                                              {"service p50", "/service/ns/p50", Latency},
                                              {"service p99", "/service/ns/p99", Latency},
                                              {"server p50", "/server/ns/p50", Latency},
                                              {"server p99", "/server/ns/p99", Latency},
                                              {"batches", "/request_bytes_per_s", ByteRate},
                                              {"plans", "/plan_bytes_per_s", ByteRate},
                                              {"errors", "/num_errors", Count},
                                              {"starts skipped", "/skipped", Count},
                                              {"starts delayed", "/delayed", Count},
                                              {"verified", "/verified", Count},
                                              {"mismatches", "/mismatches", Count}}};

absl::StatusOr<Json> Parse(const ResultFile& file) {
  const auto refuse = [&file](std::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat(OneLine(file.name), ": ", plan::ToAbsl(reason)));
  };
  // With the position, and without an exception.
  if (const auto checked = json::ParseJson(file.text); !checked.ok()) {
    return refuse(std::string(checked.status().message()));
  }
  Json json = Json::parse(file.text);
  if (json.is_object() && json.contains("sweep") && json.contains("runs")) {
    return refuse("a sweep, of several loads; give the file of one load without --sweep");
  }
  if (!json.is_object() || json.value("format", Json()) != kResultFormat) {
    return refuse("not a result of gdnplan load --json");
  }
  return json;
}

// None: not in the file, or no number that any result has.
std::optional<double> Find(const Json& json, const Figure& figure) {
  const Json::json_pointer pointer(figure.pointer);
  if (!json.contains(pointer) || !json.at(pointer).is_number()) return std::nullopt;
  const auto number = json.at(pointer).get<double>();
  if (!(number >= 0 && number < 1e19)) return std::nullopt;
  return number;
}

std::string Change(std::optional<double> before, std::optional<double> after) {
  if (!before.has_value() || !after.has_value()) return "";
  if (*before == *after) return "=";
  if (*before == 0) return "";
  return absl::StrFormat("%+.1f %%", 100 * (*after - *before) / *before);
}

std::string Text(const Figure& figure, std::optional<double> value) {
  return value.has_value() ? figure.text(*value) : "-";
}

void PrintFigures(const Json& before, const Json& after, const std::vector<std::string>& names,
                  std::ostream& out) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{""}, {names[0], kRight}, {names[1], kRight}, {"change", kRight}});
  for (const Figure& figure : kFigures) {
    const std::optional<double> left = Find(before, figure);
    const std::optional<double> right = Find(after, figure);
    if (!left.has_value() && !right.has_value()) continue;
    table.AddRow({figure.name, Text(figure, left), Text(figure, right), Change(left, right)});
  }
  table.Print(out);
}

void PrintDifferences(const Json& before, const Json& after, const std::vector<std::string>& names,
                      std::ostream& out) {
  const std::vector<Parameter> left = Flatten(before.value("parameters", Json()));
  const std::vector<Parameter> right = Flatten(after.value("parameters", Json()));
  std::map<std::string, std::string> of_right;
  for (const Parameter& parameter : right) of_right[parameter.name] = parameter.value;

  Table table({{"parameter"}, {names[0]}, {names[1]}});
  bool differ = false;
  const auto add = [&](const std::string& name, const std::string& a, const std::string& b) {
    table.AddRow({OneLine(name), OneLine(a), OneLine(b)});
    differ = true;
  };
  for (const Parameter& parameter : left) {
    const auto found = of_right.extract(parameter.name);
    if (found.empty()) {
      add(parameter.name, parameter.value, "-");
    } else if (found.mapped() != parameter.value) {
      add(parameter.name, parameter.value, found.mapped());
    }
  }
  for (const auto& [name, value] : of_right) add(name, "-", value);
  if (differ) {
    out << '\n';
    table.Print(out);
  } else {
    out << "\nAll parameters are equal.\n";
  }
}

}  // namespace

absl::StatusOr<std::string> CompareResults(const ResultFile& before, const ResultFile& after) {
  GDNPLAN_ASSIGN_OR_RETURN(const Json left, Parse(before));
  GDNPLAN_ASSIGN_OR_RETURN(const Json right, Parse(after));
  const std::vector<std::string> names = {OneLine(before.name), OneLine(after.name)};
  std::ostringstream out;
  PrintFigures(left, right, names, out);
  PrintDifferences(left, right, names, out);
  return out.str();
}

}  // namespace gdnplan::load
