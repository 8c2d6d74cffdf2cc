// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Files that the user names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/json/batch_json.h"

namespace gdnplan::tool {

// A batch from a file, "-" for stdin: the whole file, or one line of a file that has one document a
// line. Without `line`: the whole file where it is one document, otherwise its first line.
// Errors name the file.
absl::StatusOr<json::BatchDocument> ReadBatchFile(const std::string& path, std::optional<int> line);

// The files themselves and, for a directory, its *.jsonl in order. A directory without any is an
// error; files are not looked at.
absl::StatusOr<std::vector<std::string>> ExpandDirectory(const std::string& path);

}  // namespace gdnplan::tool
