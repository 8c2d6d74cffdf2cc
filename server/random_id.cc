// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/random_id.h"

#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>

#include "absl/status/status.h"

namespace gdnplan::server {

absl::StatusOr<RandomId> MakeRandomId() {
  RandomId id{};
  ssize_t got = -1;
  // Requests of up to 256 bytes are never cut short; a signal can come before the pool is seeded.
  do {
    got = getrandom(id.data(), id.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(id.size())) return absl::ErrnoToStatus(errno, "getrandom");
  return id;
}

std::string ToHex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace gdnplan::server
