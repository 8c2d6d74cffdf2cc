// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Typed access to JSON of unknown origin. Nothing here throws; every error is InvalidArgument
// "path: reason (got ...)".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::json {

// One document. Trailing text is an error.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

// InvalidArgument "path: reason (got <value>)". The value's text is bounded, whatever it is.
absl::Status UnexpectedJson(std::string_view path, std::string_view reason,
                            const nlohmann::json& value);

// The member, or null where it is absent or JSON's null. `object` must be an object.
const nlohmann::json* FindMember(const nlohmann::json& object, std::string_view name);

// The same, but absence is an error. `path` is that of the object; empty for the document.
absl::StatusOr<const nlohmann::json*> GetMember(const nlohmann::json& object, std::string_view name,
                                                std::string_view path);

// An error unless `value` is an object.
absl::Status ExpectObject(const nlohmann::json& value, std::string_view path);

// An error unless every key is one of `known`: a misspelt optional key must not pass unnoticed.
absl::Status ExpectKeys(const nlohmann::json& object, std::string_view path,
                        const std::vector<std::string_view>& known);

absl::StatusOr<int32_t> ReadInt32(const nlohmann::json& value, std::string_view path);
absl::StatusOr<bool> ReadBool(const nlohmann::json& value, std::string_view path);
absl::StatusOr<std::string> ReadString(const nlohmann::json& value, std::string_view path);
absl::StatusOr<std::vector<int32_t>> ReadInt32List(const nlohmann::json& value,
                                                   std::string_view path);

// "path.name", or "name" for the document.
std::string MemberPath(std::string_view path, std::string_view name);
// "path[index]".
std::string ElementPath(std::string_view path, size_t index);

}  // namespace gdnplan::json
