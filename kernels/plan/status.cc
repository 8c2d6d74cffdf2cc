// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace gdnplan::plan {
namespace {

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

absl::Status MakeSticky(absl::Status status) {
  status.SetPayload(kStickyPayload, absl::Cord());
  return status;
}

bool IsSticky(const absl::Status& status) { return status.GetPayload(kStickyPayload).has_value(); }

}  // namespace gdnplan::plan
