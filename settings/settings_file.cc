// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::settings {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr char kMark = '"';

absl::string_view WithoutComment(absl::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' &&
        (i == 0 || absl::ascii_isblank(static_cast<unsigned char>(line[i - 1])))) {
      return line.substr(0, i);
    }
  }
  return line;
}

// What is between the marks, where the text begins with one. Nothing: no mark ends it, or there is
// more behind that than a comment.
std::optional<std::string> Unquoted(absl::string_view text) {
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] != kMark) {
      value += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == kMark) {
      value += text[++i];
    } else if (absl::StripAsciiWhitespace(WithoutComment(text.substr(i + 1))).empty()) {
      return value;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string FormatValue(const std::string& value) {
  const auto read = ParseEntries("", absl::StrCat("key = ", value));
  const bool same = read.ok() && read->size() == 1 && read->front().value == value;
  return same ? value : absl::StrCat("\"", absl::StrReplaceAll(value, {{"\"", "\"\""}}), "\"");
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
    const absl::string_view plain = absl::StripAsciiWhitespace(line.substr(equals + 1));
    std::string value(plain);
    if (!plain.empty() && plain.front() == kMark) {
      // With what looked like a comment.
      std::optional<std::string> unquoted = Unquoted(whole.substr(whole.find(kMark)));
      if (!unquoted.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat(name, ":", number, ": ", key,
                         ": must end with the quotation mark that it begins with (got ", plain,
                         "); two stand for one in between"));
      }
      value = *std::move(unquoted);
    }
    entries.push_back({std::string(key), std::move(value), number});
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
