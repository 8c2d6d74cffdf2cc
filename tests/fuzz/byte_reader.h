// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Choices from a fuzzer's input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdnplan::test {

// Gives 0 once the input is used up.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  uint8_t U8() {
    if (bytes_.empty()) return 0;
    const uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  // 0..choices - 1.
  size_t Choose(size_t choices) { return U8() % choices; }
  bool Bool() { return Choose(2) != 0; }
  int32_t I32() {
    uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= uint32_t{U8()} << shift;
    return static_cast<int32_t>(value);
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace gdnplan::test
