// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Request traces: what came when, as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace gdnplan::load {

struct Request {
  double arrival_s = 0;  // from the trace's start
  int32_t prompt_tokens = 0;
  int32_t output_tokens = 0;
  int64_t line = 0;  // of its file, from 1; 0: it has none
};

// What a request may ask for at most: prompt or output.
inline constexpr int32_t kMaxRequestTokens = 16'777'216;

// A header names the columns arrival_s, prompt_tokens and output_tokens, in any order; others are
// not read. Arrivals must not decrease: out of order they are more likely a mistake than a trace.
// InvalidArgument "NAME:LINE: COLUMN: ...". `name`: the file's, for errors.
absl::StatusOr<std::vector<Request>> ParseTrace(std::string_view text, std::string_view name);

// NotFound where the file cannot be read, InvalidArgument where it is a directory or above
// json::kMaxFileBytes, else as above.
absl::StatusOr<std::vector<Request>> ReadTrace(const std::string& path);

}  // namespace gdnplan::load
