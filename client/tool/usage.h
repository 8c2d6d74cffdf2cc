// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Errors in how the tool was called, for which its exit status is 2.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::tool {

// "--flag: reason".
absl::Status WrongUsage(std::string_view flag, std::string_view reason);
// Of an option that a library refused, InvalidArgument "max_num_seqs: reason": named by its flag.
// OK stays OK.
absl::Status AsWrongUsage(const absl::Status& refused);
// An error that is no wrong usage, such as a file's, named by the flag. OK stays OK.
template <typename T>
absl::StatusOr<T> OfFlag(std::string_view flag, absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      std::string(flag) + ": " + std::string(result.status().message()));
}
// Names options in a library's text by their flags: "num_blocks" is --num-blocks.
std::string WithFlags(std::string_view text);

bool IsWrongUsage(const absl::Status& status);

// The error, and which help tells more: the chosen subcommand's, unless it is about one of the
// program's own options.
std::string WithHelp(const std::string& error, const CLI::App& app);

}  // namespace gdnplan::tool
