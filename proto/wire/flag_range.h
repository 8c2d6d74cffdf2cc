// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Numbers in flags and environment variables, of server and tool alike.
#pragma once

#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <concepts>
#include <iterator>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace gdnplan::wire {

// As people write it: without an exponent, and no digit more than it takes to tell it from others.
template <typename T>
std::string NumberText(T value) {
  char text[512];  // the largest double has 309 digits
  std::to_chars_result result{};
  if constexpr (std::is_integral_v<T>) {
    result = std::to_chars(std::begin(text), std::end(text), value);
  } else {
    result = std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed);
  }
  return std::string(std::begin(text), result.ptr);
}

// The error, or none where the whole of the text is a number that T can hold.
template <typename T>
std::errc ParseNumber(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return stop == end ? error : std::errc::invalid_argument;
}

template <typename T>
constexpr const char* kKindOfNumber = std::is_integral_v<T> ? "whole number" : "number";

// The whole of a text as a number within bounds, both included: no NaN, nothing that T cannot hold
// (a sign, a fraction), nothing behind it. CLI11's own check lets NaN pass, and its conversion
// takes -1 for a large unsigned number.
template <typename T>
requires std::integral<T> || std::floating_point<T> CLI::Validator InRange(T low, T high) {
  const std::string range = "in " + NumberText(low) + ".." + NumberText(high);
  const auto check = [low, high, range](std::string& text) {
    T value{};
    // A NaN compares as false.
    if (ParseNumber(text, value) == std::errc() && value >= low && value <= high) {
      return std::string();
    }
    return std::string("must be a ") + kKindOfNumber<T> + " " + range + " (got " + text + ")";
  };
  return CLI::Validator(check, range);
}

// The whole of a text as any number that T can hold, NaN and infinity too: for options whose range
// is checked later, and named then.
template <typename T>
requires std::integral<T> || std::floating_point<T> CLI::Validator IsNumber() {
  const auto check = [](std::string& text) {
    T value{};
    const std::errc error = ParseNumber(text, value);
    if (error == std::errc()) return std::string();
    if (error == std::errc::result_out_of_range) {
      return "is far out of range (got " + text + ")";
    }
    return std::string("must be a ") + kKindOfNumber<T> + " (got " + text + ")";
  };
  return CLI::Validator(check, "");
}

// One of some words, as they are.
inline CLI::Validator OneOf(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  const auto check = [words, list](std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    return "must be one of " + list + " (got " + text + ")";
  };
  return CLI::Validator(check, "{" + list + "}");
}

}  // namespace gdnplan::wire
