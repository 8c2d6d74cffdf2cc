// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Errors in how the tool was called, for which its exit status is 2.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace gdnplan::tool {

// "--flag: reason".
absl::Status WrongUsage(std::string_view flag, std::string_view reason);
// Of an option that a library refused, InvalidArgument "max_num_seqs: reason": named by its flag.
// OK stays OK.
absl::Status AsWrongUsage(const absl::Status& refused);
// Names options in a library's text by their flags: "num_blocks" is --num-blocks.
std::string WithFlags(std::string_view text);

bool IsWrongUsage(const absl::Status& status);

}  // namespace gdnplan::tool
