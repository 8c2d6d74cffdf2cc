// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How often a device was written to, by what made the bytes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "server/fill_mode.h"

namespace gdnplan::server {

struct FillCounts {
  uint64_t host = 0;
  uint64_t copy = 0;
  uint64_t kernel = 0;

  friend bool operator==(const FillCounts&, const FillCounts&) = default;
};

// Thread safe. The kinds are not counted at one instant: a reader may see one write without
// another.
class FillCounter {
 public:
  void Count(FillKind kind) { Of(kind).fetch_add(1, std::memory_order_relaxed); }

  FillCounts counts() const {
    return {.host = Of(FillKind::kHost).load(std::memory_order_relaxed),
            .copy = Of(FillKind::kCopy).load(std::memory_order_relaxed),
            .kernel = Of(FillKind::kKernel).load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<uint64_t>& Of(FillKind kind) { return counts_[static_cast<size_t>(kind)]; }
  const std::atomic<uint64_t>& Of(FillKind kind) const {
    return counts_[static_cast<size_t>(kind)];
  }

  std::array<std::atomic<uint64_t>, 3> counts_ = {};
};

}  // namespace gdnplan::server
