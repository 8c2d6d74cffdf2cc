// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load measured, for a terminal: plain ASCII.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/load/result.h"

namespace gdnplan::load {

// The tables at the end, with a line break after each line.
std::string FormatReport(const Result& result);

// What became of the sessions that failed, without line breaks: a line for all if all of them lost
// their server, else one each for a few of them.
std::vector<std::string> FormatFailures(const Result& result);

// "UNAVAILABLE: Broken pipe (PlanStream at unix:/run/gdnplan.sock)".
std::string ErrorText(std::string_view code, std::string_view reason, std::string_view call,
                      std::string_view address);

struct Progress {
  double elapsed_s = 0;
  std::optional<double> left_s;  // unless the end is not known
  bool warm_up = false;
  // Of the last second or so.
  double rate = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  uint64_t errors = 0;  // since the start
};

// One line, less than 80 characters for all likely figures, without a line break. Its columns stand
// still from call to call, and it covers what an earlier one left.
std::string FormatProgress(const Progress& progress);

}  // namespace gdnplan::load
