// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What tells this server process from every other, and each of its arenas from every other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "server/random_id.h"

namespace gdnplan::server {

// Made once at start and shared by devices and sessions. Thread safe.
class Boot {
 public:
  static absl::StatusOr<std::shared_ptr<Boot>> Create();
  explicit Boot(const RandomId& id)
      : id_(id), hex_(ToHex(id)), start_(std::chrono::steady_clock::now()) {}

  const RandomId& id() const { return id_; }
  const std::string& hex() const { return hex_; }
  std::chrono::nanoseconds uptime() const { return std::chrono::steady_clock::now() - start_; }

  // From 1; never the same twice.
  uint64_t NextGeneration() { return ++last_generation_; }

  // The header of an arena of that generation.
  plan::ArenaHeader Header(const plan::ArenaLayout& layout, uint64_t generation) const;

 private:
  const RandomId id_;
  const std::string hex_;
  const std::chrono::steady_clock::time_point start_;
  std::atomic<uint64_t> last_generation_ = 0;
};

}  // namespace gdnplan::server
