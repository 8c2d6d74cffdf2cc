// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::settings {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

absl::string_view WithoutComment(absl::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' &&
        (i == 0 || absl::ascii_isblank(static_cast<unsigned char>(line[i - 1])))) {
      return line.substr(0, i);
    }
  }
  return line;
}

// What is between the marks, where the text begins with one. Nothing: there is more behind the
// second one than a comment, or no second one.
std::optional<absl::string_view> Unquoted(absl::string_view text) {
  const size_t end = text.find('"', 1);
  if (end == absl::string_view::npos) return std::nullopt;
  if (!absl::StripAsciiWhitespace(WithoutComment(text.substr(end + 1))).empty()) {
    return std::nullopt;
  }
  return text.substr(1, end - 1);
}

}  // namespace

std::string FormatValue(const std::string& value) {
  const auto read = ParseEntries("", absl::StrCat("key = ", value));
  const bool same = read.ok() && read->size() == 1 && read->front().value == value;
  return same ? value : absl::StrCat("\"", value, "\"");
}

absl::StatusOr<std::vector<Entry>> ParseEntries(const std::string& name, std::string_view text) {
  // Some editors begin files with it, and nobody sees it.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<Entry> entries;
  int number = 0;
  for (const absl::string_view whole : absl::StrSplit(plan::ToAbsl(text), '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(WithoutComment(whole));
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    const absl::string_view key = absl::StripAsciiWhitespace(line.substr(0, equals));
    if (equals == absl::string_view::npos || key.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ":", number, ": must be \"key = value\" (got ", line, ")"));
    }
    absl::string_view value = absl::StripAsciiWhitespace(line.substr(equals + 1));
    if (!value.empty() && value.front() == '"') {
      // With what looked like a comment.
      const auto unquoted = Unquoted(whole.substr(whole.find('"')));
      if (!unquoted.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, ":", number, ": ", key,
            ": must end with the quotation mark that it begins with (got ", value, ")"));
      }
      value = *unquoted;
    }
    entries.push_back({std::string(key), std::string(value), number});
  }
  return entries;
}

absl::StatusOr<std::vector<Entry>> ReadEntries(const std::string& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');
  // A directory can be opened, not read.
  if (!stream.read(text.data(), static_cast<std::streamsize>(text.size())) && !stream.eof()) {
    return absl::ErrnoToStatus(errno == 0 ? EIO : errno, absl::StrCat("cannot read ", path));
  }
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": must have at most ", kMaxBytes, " bytes"));
  }
  return ParseEntries(path, text);
}

}  // namespace gdnplan::settings
