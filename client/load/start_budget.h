// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How many requests may still start.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gdnplan::load {

// Shared by the sessions of a load. Thread safe.
class StartBudget {
 public:
  explicit StartBudget(uint64_t starts) : left_(starts) {}

  // As many as there are left of `wanted`.
  uint64_t Take(uint64_t wanted) {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (!left_.compare_exchange_weak(left, left - std::min(left, wanted),
                                        std::memory_order_relaxed)) {
    }
    return std::min(left, wanted);
  }

 private:
  std::atomic<uint64_t> left_;
};

}  // namespace gdnplan::load
