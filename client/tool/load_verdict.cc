// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/load_verdict.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/report_text.h"
#include "client/load/units.h"
#include "client/tool/command.h"

namespace gdnplan::tool {
namespace {

using load::Grouped;
using load::Result;

std::string NothingSent(const Result& result) {
  return result.skipped > 0
             ? "no plan was answered: every start was skipped"
             : "no plan was answered: no request started in the time; give a longer --duration, a "
               "higher --rate, or a --shape that takes less time to make";
}

void CheckGates(const Result& result, const Gates& gates, std::vector<std::string>& missed) {
  const double p99_us = static_cast<double>(result.latency.Percentile(99)) / 1e3;
  if (gates.max_p99_us.has_value() && !(p99_us <= *gates.max_p99_us)) {
    missed.push_back(absl::StrCat("p99 ", p99_us, " us, --max-p99-us ", *gates.max_p99_us));
  }
  if (gates.min_rate.has_value() && !(result.rate() >= *gates.min_rate)) {
    missed.push_back(absl::StrCat(result.rate(), " plans/s, --min-rate ", *gates.min_rate));
  }
  if (gates.max_errors.has_value() && result.num_errors() > *gates.max_errors) {
    missed.push_back(
        absl::StrCat(result.num_errors(), " errors, --max-errors ", *gates.max_errors));
  }
}

}  // namespace

Verdict Judge(const Result& result, const Gates& gates) {
  Verdict verdict;
  const auto decide = [&verdict](int status, std::string reason) {
    verdict.status = Worse(verdict.status, status);
    verdict.reasons.push_back(std::move(reason));
  };
  if (result.mismatches > 0) decide(kMismatch, absl::StrCat(result.mismatches, " wrong plans"));
  for (const std::string& failure : load::FormatFailures(result)) decide(kFailure, failure);
  if (result.failures.empty() && result.plans == 0) decide(kFailure, NothingSent(result));
  if (result.skipped > 0) {
    const uint64_t starts = result.plans + result.num_errors() + result.skipped;
    decide(kSuccess,
           absl::StrCat(
               Grouped(result.skipped), " of ", Grouped(starts), " starts were skipped: ",
               result.failures.empty() ? "the rate was not kept" : "nobody was there for them"));
  }
  std::vector<std::string> missed;
  CheckGates(result, gates, missed);
  for (const std::string& text : missed) decide(kGate, "gate missed: " + text);
  return verdict;
}

int Worse(int a, int b) {
  constexpr std::array kOrder = {kSuccess, kGate, kFailure, kMismatch};
  const auto rank = [&](int status) { return std::find(kOrder.begin(), kOrder.end(), status); };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace gdnplan::tool
