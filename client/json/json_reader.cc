// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/json/json_reader.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::json {
namespace {

using plan::InvalidField;
using plan::ToAbsl;

constexpr size_t kMaxTextShown = 40;

// Containers are named, not printed: they may be large, or nested deeper than a stack.
std::string Describe(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::array:
      return absl::StrCat("an array of ", value.size());
    case nlohmann::json::value_t::object:
      return "an object";
    case nlohmann::json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      const nlohmann::json shown = text.substr(0, kMaxTextShown);
      // Cutting may split a character.
      return shown.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    }
    default:
      return value.dump();
  }
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ...": without the tag. A
    // number that is too large is no parse error, but "[json.exception.out_of_range.406] ...".
    const std::string_view what = error.what();
    const size_t text_begin = what.find("] ");
    return absl::InvalidArgumentError(absl::StrCat(
        "not valid JSON: ",
        ToAbsl(text_begin == std::string_view::npos ? what : what.substr(text_begin + 2))
            .substr(0, 300)));
  }
}

absl::Status UnexpectedJson(std::string_view path, std::string_view reason,
                            const nlohmann::json& value) {
  const std::string text = absl::StrCat(ToAbsl(reason), " (got ", Describe(value), ")");
  return path.empty() ? absl::InvalidArgumentError(text) : InvalidField(path, text);
}

const nlohmann::json* FindMember(const nlohmann::json& object, std::string_view name) {
  const auto it = object.find(std::string(name));
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

absl::StatusOr<const nlohmann::json*> GetMember(const nlohmann::json& object, std::string_view name,
                                                std::string_view path) {
  const nlohmann::json* member = FindMember(object, name);
  if (member == nullptr) return InvalidField(MemberPath(path, name), "is missing");
  return member;
}

absl::Status ExpectObject(const nlohmann::json& value, std::string_view path) {
  return value.is_object() ? absl::OkStatus() : UnexpectedJson(path, "must be an object", value);
}

absl::Status ExpectKeys(const nlohmann::json& object, std::string_view path,
                        const std::vector<std::string_view>& known) {
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (std::find(known.begin(), known.end(), it.key()) == known.end()) {
      return UnexpectedJson(path, "unknown key", nlohmann::json(it.key()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> ReadInt32(const nlohmann::json& value, std::string_view path) {
  using Limits = std::numeric_limits<int32_t>;
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number <= uint64_t{Limits::max()}) return static_cast<int32_t>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    if (number >= Limits::min() && number <= Limits::max()) return static_cast<int32_t>(number);
  }
  return UnexpectedJson(path, "must be an int32", value);
}

absl::StatusOr<bool> ReadBool(const nlohmann::json& value, std::string_view path) {
  if (!value.is_boolean()) return UnexpectedJson(path, "must be true or false", value);
  return value.get<bool>();
}

absl::StatusOr<std::string> ReadString(const nlohmann::json& value, std::string_view path) {
  if (!value.is_string()) return UnexpectedJson(path, "must be a string", value);
  return value.get<std::string>();
}

absl::StatusOr<std::vector<int32_t>> ReadInt32List(const nlohmann::json& value,
                                                   std::string_view path) {
  if (!value.is_array()) return UnexpectedJson(path, "must be a list of int32", value);
  std::vector<int32_t> numbers;
  numbers.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    absl::StatusOr<int32_t> number = ReadInt32(value[i], "");
    // The path is made for the error only: lists are long.
    if (!number.ok()) return UnexpectedJson(ElementPath(path, i), "must be an int32", value[i]);
    numbers.push_back(*number);
  }
  return numbers;
}

std::string MemberPath(std::string_view path, std::string_view name) {
  if (path.empty()) return std::string(name);
  return absl::StrCat(ToAbsl(path), ".", ToAbsl(name));
}

std::string ElementPath(std::string_view path, size_t index) {
  return absl::StrCat(ToAbsl(path), "[", index, "]");
}

}  // namespace gdnplan::json
