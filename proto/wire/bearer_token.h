// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The secret that a server may ask of its callers, as file and as metadata of a call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace gdnplan::wire {

// "authorization: Bearer TOKEN", as RFC 6750 has it.
inline constexpr char kAuthorization[] = "authorization";
inline constexpr std::string_view kBearer = "Bearer ";

// The tokens in a file: one a line, at least one and at most 16, each of at most 1024 printable
// characters without blanks. A server takes any of them, a client gives the first. Errors begin
// with `name`, the caller's option for it, and never have a token in them. FailedPrecondition:
// everybody may read it.
absl::StatusOr<std::vector<std::string>> ReadTokens(const std::string& path,
                                                    const std::string& name);

// Says in a time that depends on the lengths alone whether both are the same.
bool SameSecret(std::string_view a, std::string_view b);

// Knows what it has read, so that a file is read again only when it may have other content. Not
// thread safe.
class TokenReader {
 public:
  TokenReader(std::string path, std::string name)
      : path_(std::move(path)), name_(std::move(name)) {}

  const std::string& path() const { return path_; }
  // Nothing: the file is as it was the last time. Else as ReadTokens; an error is told once.
  std::optional<absl::StatusOr<std::vector<std::string>>> ReadIfChanged();

 private:
  struct Stamp {
    long long seconds = 0, nanoseconds = 0;
    unsigned long long inode = 0, size = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const std::string& path);

  const std::string path_;
  const std::string name_;     // for errors
  std::optional<Stamp> last_;  // nothing: not read yet
};

}  // namespace gdnplan::wire
