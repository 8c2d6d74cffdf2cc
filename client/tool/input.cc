// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/input.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "client/json/json_reader.h"
#include "client/json/text_file.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

std::string Label(const std::string& path) { return path == "-" ? "stdin" : path; }

absl::StatusOr<std::string_view> Line(std::string_view text, int number, const std::string& label) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(label, " is empty"));
  size_t begin = 0;
  int line = 1;
  for (; line < number && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  if (begin >= text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(label, " has no line ", number, "; it has ", line - 1));
  }
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

absl::StatusOr<json::BatchDocument> ReadBatchFile(const std::string& path,
                                                  std::optional<int> line) {
  const std::string label = Label(path);
  GDNPLAN_ASSIGN_OR_RETURN(const std::string text, json::ReadFile(path));
  // Without --line a document may span lines. If the first line is one by itself, it is meant.
  GDNPLAN_ASSIGN_OR_RETURN(const std::string_view chosen, Line(text, line.value_or(1), label));
  absl::StatusOr<json::BatchDocument> document = json::ParseBatch(chosen);
  if (!document.ok() && !line.has_value()) {
    // The first line's error is the useful one only where it is a document by itself.
    if (!json::ParseJson(chosen).ok()) {
      document = json::ParseBatch(text);
      if (!document.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(label, ": ", document.status().message()));
      }
    }
  }
  if (document.ok()) return document;
  return absl::InvalidArgumentError(
      absl::StrCat(label, ":", line.value_or(1), ": ", document.status().message()));
}

absl::StatusOr<std::vector<std::string>> ExpandDirectory(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".jsonl") files.push_back(entry->path().string());
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", error.message()));
  }
  if (files.empty()) return absl::NotFoundError(absl::StrCat(path, " has no *.jsonl file"));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace gdnplan::tool
