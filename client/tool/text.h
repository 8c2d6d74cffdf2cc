// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Text for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "gdnplan/plan/counts.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::tool {

// Columns as wide as their longest cell, two spaces apart and two in from the left.
class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void Print(std::ostream& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "1.5 GiB", "3 min 4 s", "12.3 us".
std::string Bytes(uint64_t bytes);
std::string Duration(std::chrono::nanoseconds duration);
// Without line breaks or other control characters: names and texts come from elsewhere.
std::string OneLine(std::string_view text);

std::string_view Name(plan::Staging staging);
std::string_view Name(plan::DType dtype);

}  // namespace gdnplan::tool
