// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/bearer_token.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::wire {
namespace {

constexpr size_t kMaxTokens = 16;
constexpr size_t kMaxLength = 1024;
constexpr size_t kMaxFile = kMaxTokens * (kMaxLength + 2);

absl::Status Failed(const std::string& path, const std::string& name) {
  return absl::ErrnoToStatus(errno, absl::StrCat(name, ": cannot read ", path));
}

absl::StatusOr<std::string> Read(int fd, const std::string& path, const std::string& name) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return Failed(path, name);
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": cannot read ", path, ": it is no regular file"));
  }
  if ((info.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(name, ": everybody may read or write ", path,
                                                      "; chmod o-rw makes it a secret"));
  }
  std::string text(kMaxFile + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(path, name);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

bool IsToken(const std::string& text) {
  return text.size() <= kMaxLength && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c));
         });
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadTokens(const std::string& path,
                                                    const std::string& name) {
  // Whatever is there: opening a FIFO would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Failed(path, name);
  const absl::StatusOr<std::string> text = Read(fd, path, name);
  close(fd);
  if (!text.ok()) return text.status();
  std::vector<std::string> tokens;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::string token(absl::StripAsciiWhitespace(line));
    if (token.empty()) continue;
    if (!IsToken(token) || tokens.size() == kMaxTokens) {
      return plan::InvalidField(
          name, absl::StrCat(path, " must have 1 to ", kMaxTokens, " lines, each of 1 to ",
                             kMaxLength, " printable characters without blanks"));
    }
    tokens.push_back(token);
  }
  if (tokens.empty()) return plan::InvalidField(name, path + " has no token in it");
  return tokens;
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<absl::StatusOr<std::vector<std::string>>> TokenReader::ReadIfChanged() {
  // First, so that a change in between is seen the next time.
  const Stamp stamp = StampOf(path_);
  if (last_ == stamp) return std::nullopt;
  last_ = stamp;
  return ReadTokens(path_, name_);
}

TokenReader::Stamp TokenReader::StampOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  // The time of the last change of content or mode: a mode that was wrong may be mended.
  return {.seconds = info.st_ctim.tv_sec,
          .nanoseconds = info.st_ctim.tv_nsec,
          .inode = info.st_ino,
          .size = static_cast<unsigned long long>(info.st_size)};
}

}  // namespace gdnplan::wire
