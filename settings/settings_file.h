// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The text of a configuration file: "key = value" lines, empty ones, and comments, which begin with
// a "#" that starts a line or follows a blank. A value in quotation marks is what is between them,
// "#" and blanks included, with two marks for one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace gdnplan::settings {

struct Entry {
  std::string key;
  std::string value;  // without the blanks or the marks around it; may be empty
  int line = 0;
};

// The value as the file can have it: in quotation marks where it would be read as another without.
std::string FormatValue(const std::string& value);

// InvalidArgument begins with "NAME:LINE: ".
absl::StatusOr<std::vector<Entry>> ParseEntries(const std::string& name, std::string_view text);

// NotFound, PermissionDenied, ...: it cannot be read.
absl::StatusOr<std::vector<Entry>> ReadEntries(const std::string& path);

}  // namespace gdnplan::settings
