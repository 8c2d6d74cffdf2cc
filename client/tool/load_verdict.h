// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load comes to: its exit status, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/load/result.h"

namespace gdnplan::tool {

// What a result is asked for.
struct Gates {
  std::optional<double> max_p99_us;
  std::optional<double> min_rate;
  std::optional<uint64_t> max_errors;
};

struct Verdict {
  int status = 0;
  std::vector<std::string> reasons;  // for people, one a line; also what does not decide it
};

// kMismatch before kFailure before kGate: what the figures are worth comes before the figures.
Verdict Judge(const load::Result& result, const Gates& gates);
// That of the two which counts.
int Worse(int a, int b);

}  // namespace gdnplan::tool
