// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gdnplan::tool {

void Table::Print(std::ostream& out) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto print_row = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - cell.size(), ' ');
      line.append("  ");
      line.append(columns_[i].align == Align::kRight ? padding + cell : cell + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print_row([this](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    print_row([&row](size_t i) -> const std::string& { return row[i]; });
  }
}

std::string Bytes(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B") : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string Duration(std::chrono::nanoseconds duration) {
  const int64_t ns = duration.count();
  const int64_t s = ns / 1'000'000'000;
  if (s >= 172'800) return absl::StrCat(s / 86'400, " d ", s % 86'400 / 3'600, " h");
  if (s >= 3'600) return absl::StrCat(s / 3'600, " h ", s % 3'600 / 60, " min");
  if (s >= 60) return absl::StrCat(s / 60, " min ", s % 60, " s");
  const auto value = static_cast<double>(ns);
  if (ns >= 1'000'000'000) return absl::StrFormat("%.1f s", value / 1e9);
  if (ns >= 1'000'000) return absl::StrFormat("%.1f ms", value / 1e6);
  return absl::StrFormat("%.1f us", value / 1e3);
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

std::string_view Name(plan::Staging staging) {
  switch (staging) {
    case plan::Staging::kNone:
      return "NONE";
    case plan::Staging::kDecode:
      return "DECODE";
    case plan::Staging::kSpecDecode:
      return "SPEC_DECODE";
  }
  return "NONE";
}

std::string_view Name(plan::DType dtype) {
  return dtype == plan::DType::kInt32 ? "int32" : "uint8";
}

}  // namespace gdnplan::tool
