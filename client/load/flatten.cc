// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/flatten.h"

#include <algorithm>

namespace gdnplan::load {
namespace {

using Json = nlohmann::ordered_json;

// Files come from elsewhere: no nesting of theirs may exhaust the stack.
constexpr int kDeepest = 16;

std::string Text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "-";
  return value.dump();
}

bool IsPlainList(const Json& value) {
  return value.is_array() && std::none_of(value.begin(), value.end(),
                                          [](const Json& item) { return item.is_structured(); });
}

std::string JoinItems(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : ", ") + Text(item);
  return text.empty() ? "-" : text;
}

void Append(const std::string& name, const Json& value, int depth, std::vector<Parameter>& list) {
  if (IsPlainList(value)) {
    list.push_back({name, JoinItems(value)});
  } else if (!value.is_structured() || depth == kDeepest) {
    list.push_back({name, Text(value)});
  } else {
    for (const auto& [key, member] : value.items()) {
      Append(name.empty() ? key : name + "." + key, member, depth + 1, list);
    }
  }
}

}  // namespace

std::vector<Parameter> Flatten(const Json& parameters) {
  std::vector<Parameter> list;
  // Once through text, which replaces what is no UTF-8.
  const Json valid = Json::parse(parameters.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (valid.is_object()) Append("", valid, 0, list);
  return list;
}

}  // namespace gdnplan::load
