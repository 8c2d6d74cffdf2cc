// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers that are the same with every standard library.
#pragma once

#include <cstdint>

namespace gdnplan::load {

// The finalizer of SplitMix64: a bijection that leaves no pattern of its input.
constexpr uint64_t MixBits(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// A hash of two numbers.
constexpr uint64_t MixBits(uint64_t a, uint64_t b) {
  return MixBits(MixBits(a + 0x9e3779b97f4a7c15) ^ b);
}

// SplitMix64: a few instructions a number, for steps are made while a load is measured.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(MixBits(seed)) {}

  uint64_t Next() { return MixBits(state_ += 0x9e3779b97f4a7c15); }
  // Both bounds included.
  int32_t Between(int32_t low, int32_t high) {
    const auto choices = static_cast<uint64_t>(int64_t{high} - low + 1);
    return static_cast<int32_t>(low + static_cast<int64_t>(((Next() >> 32) * choices) >> 32));
  }
  // In [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  uint64_t state_;
};

}  // namespace gdnplan::load
