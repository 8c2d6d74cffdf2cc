// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/text_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace gdnplan::json {
namespace {

absl::StatusOr<std::string> ReadStream(std::istream& stream, const std::string& label,
                                       size_t max_bytes) {
  std::string text;
  std::array<char, 65'536> part;
  errno = 0;
  while (stream.read(part.data(), part.size()), stream.gcount() > 0) {
    const auto got = static_cast<size_t>(stream.gcount());
    if (got > max_bytes - text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(label, ": must have at most ", max_bytes, " bytes"));
    }
    text.append(part.data(), got);
  }
  if (!stream.bad()) return text;
  return absl::NotFoundError(
      absl::StrCat("cannot read ", label, ": ", std::strerror(errno == 0 ? EIO : errno)));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  if (path == "-") return ReadStream(std::cin, "stdin", max_bytes);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a directory, not a file"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
  }
  return ReadStream(file, path, max_bytes);
}

}  // namespace gdnplan::json
