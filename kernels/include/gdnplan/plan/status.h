// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Errors of this library: absl::Status throughout, refused input as InvalidArgument that names the
// field.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when the expression is not OK.
#define GDNPLAN_RETURN_IF_ERROR(expr)                                   \
  do {                                                                  \
    if (absl::Status gdnplan_status_ = (expr); !gdnplan_status_.ok()) { \
      return gdnplan_status_;                                           \
    }                                                                   \
  } while (false)

// Assigns the value of a StatusOr, or returns its status.
#define GDNPLAN_ASSIGN_OR_RETURN(lhs, expr) \
  GDNPLAN_ASSIGN_OR_RETURN_(GDNPLAN_CONCAT_(gdnplan_status_or_, __LINE__), lhs, expr)
#define GDNPLAN_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                              \
  if (!tmp.ok()) return std::move(tmp).status();  \
  lhs = std::move(tmp).value()
#define GDNPLAN_CONCAT_(a, b) GDNPLAN_CONCAT_INNER_(a, b)
#define GDNPLAN_CONCAT_INNER_(a, b) a##b

namespace gdnplan::plan {

// Debian's absl has its own string_view; everything public of ours uses std's.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

// Type URL of the payload that names the refused field, for callers who want it apart from the
// text.
inline constexpr std::string_view kFieldPayload = "gdnplan/field";

// InvalidArgument "field: reason", with the field's path as payload kFieldPayload.
absl::Status InvalidField(std::string_view field, std::string_view reason);

// The same for one element: "field[index]: reason".
absl::Status InvalidElement(std::string_view field, int64_t index, std::string_view reason);

// Notes on an error after what time the same request may succeed, and reads it; a
// payload too.
absl::Status RetryAfter(absl::Status status, std::chrono::milliseconds delay);
std::optional<std::chrono::milliseconds> RetryDelay(const absl::Status& status);

// Marks an error after which its device does nothing in this process any more. The mark is a
// payload: copies of the status have it, a new status with the same text has not.
absl::Status MakeSticky(absl::Status status);
bool IsSticky(const absl::Status& status);

}  // namespace gdnplan::plan
