// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Two results side by side.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace gdnplan::load {

struct ResultFile {
  std::string name;  // as people call it
  std::string_view text;
};

// The main figures of both with the change from `before` to `after`, then the parameters in which
// they differ. InvalidArgument "NAME: ..." unless both are what ToJsonText made.
absl::StatusOr<std::string> CompareResults(const ResultFile& before, const ResultFile& after);

}  // namespace gdnplan::load
