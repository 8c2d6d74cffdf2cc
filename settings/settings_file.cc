// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

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

}  // namespace

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
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(equals + 1));
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
