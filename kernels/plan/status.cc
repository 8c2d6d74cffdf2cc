// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/status.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gdnplan::plan {
namespace {

constexpr absl::string_view kRetryPayload = "gdnplan/retry_ms";
constexpr absl::string_view kStickyPayload = "gdnplan/sticky";

}  // namespace

absl::Status InvalidField(std::string_view field, std::string_view reason) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat(ToAbsl(field), ": ", ToAbsl(reason)));
  status.SetPayload(ToAbsl(kFieldPayload), absl::Cord(ToAbsl(field)));
  return status;
}

absl::Status InvalidElement(std::string_view field, int64_t index, std::string_view reason) {
  return InvalidField(absl::StrCat(ToAbsl(field), "[", index, "]"), reason);
}

absl::Status RetryAfter(absl::Status status, std::chrono::milliseconds delay) {
  status.SetPayload(kRetryPayload, absl::Cord(absl::StrCat(delay.count())));
  return status;
}

std::optional<std::chrono::milliseconds> RetryDelay(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryPayload);
  int64_t milliseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &milliseconds)) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(milliseconds);
}

absl::Status MakeSticky(absl::Status status) {
  status.SetPayload(kStickyPayload, absl::Cord());
  return status;
}

bool IsSticky(const absl::Status& status) { return status.GetPayload(kStickyPayload).has_value(); }

}  // namespace gdnplan::plan
