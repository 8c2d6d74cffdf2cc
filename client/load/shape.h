// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Fixed shapes of steps, as --shape takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::load {

struct Shape {
  std::string text;    // as it was given, for errors
  int32_t weight = 1;  // steps of this shape in a row
  int32_t decodes = 0;
  int32_t spec_rows = 0;  // of 1 + K tokens
  int32_t prefills = 0;
  int32_t prefill_tokens = 0;  // of each
  int32_t padded = 0;          // rows of no tokens, at the end

  // Of the session, so shapes of one load must agree; absent: as the others say.
  std::optional<int32_t> num_speculative_tokens;
  std::optional<int32_t> groups;
  std::optional<plan::MambaCacheMode> mamba_cache_mode;
  std::optional<int32_t> block_size;

  int32_t num_rows() const { return decodes + spec_rows + prefills + padded; }
};

// "[WEIGHT*]KEY=VALUE,..." with the keys decode=ROWS, spec=ROWS, k=DRAFTS, prefill=ROWSxTOKENS,
// padded=ROWS, groups=GROUPS, mode=none|all|align, block_size=TOKENS. At least one row has tokens.
// InvalidArgument names shape, key, value and what is allowed.
absl::StatusOr<Shape> ParseShape(std::string_view text);

}  // namespace gdnplan::load
