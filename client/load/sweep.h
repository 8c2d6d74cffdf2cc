// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Several loads that differ in one parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/load/result.h"

namespace gdnplan::load {

struct SweepRow {
  std::string value;  // of the parameter
  double rate = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  uint64_t errors = 0;
  uint64_t skipped = 0;
};

SweepRow MakeSweepRow(std::string value, const Result& result);

// Rows by rising load. The knee is the last row up to which the rate grew at least in proportion to
// p99: where rate / p99, the "power" of Kleinrock and of Jain, is greatest. So it depends neither
// on units nor on how far past saturation the sweep goes. Of rows within 5 % of the greatest power,
// as noise makes them, the last. Rows with errors or skipped starts are overloaded and cannot be
// it. None with fewer than three rows.
std::optional<size_t> FindKnee(const std::vector<SweepRow>& rows);

// The table, the knee marked, with a line break after each line.
std::string FormatSweep(std::string_view parameter, const std::vector<SweepRow>& rows);

}  // namespace gdnplan::load
