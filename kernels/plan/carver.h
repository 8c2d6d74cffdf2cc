// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Hands out aligned pieces of a block of memory, or with no block only counts them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gdnplan/plan/plan_math.h"

namespace gdnplan::plan {

inline constexpr size_t kArrayAlignment = 64;

class Carver {
 public:
  // `base`: aligned to kArrayAlignment; null to count.
  explicit Carver(std::byte* base) : base_(base) {}

  template <typename T>
  T* Take(size_t count) {
    T* piece = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += static_cast<size_t>(
        AlignUp(static_cast<int64_t>(count * sizeof(T)), int64_t{kArrayAlignment}));
    return piece;
  }
  size_t used() const { return used_; }

 private:
  std::byte* base_;
  size_t used_ = 0;
};

}  // namespace gdnplan::plan
