// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Numbers in flags and environment variables, of server and tool alike.
#pragma once

#include <CLI/Validators.hpp>
#include <charconv>
#include <cmath>
#include <concepts>
#include <sstream>
#include <string>
#include <system_error>
#include <type_traits>

namespace gdnplan::wire {

// The whole of a text as a number within bounds, both included: no NaN, nothing that T cannot hold
// (a sign, a fraction), nothing behind it. CLI11's own check lets NaN pass, and its conversion
// takes -1 for a large unsigned number.
template <typename T>
requires std::integral<T> || std::floating_point<T> CLI::Validator InRange(T low, T high) {
  const auto check = [low, high](std::string& text) {
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    // A NaN compares as false.
    if (error == std::errc() && stop == end && value >= low && value <= high) return std::string();
    std::ostringstream out;
    out.precision(17);
    out << "must be a " << (std::is_integral_v<T> ? "whole number" : "number") << " in " << low
        << ".." << high << " (got " << text << ")";
    return out.str();
  };
  std::ostringstream range;
  range.precision(17);
  range << "in " << low << ".." << high;
  return CLI::Validator(check, range.str());
}

// A name that must not be empty, such as a file's.
inline CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("must not be empty") : std::string();
      },
      "");
}

}  // namespace gdnplan::wire
