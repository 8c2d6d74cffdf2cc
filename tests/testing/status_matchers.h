// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Matchers for absl::Status and absl::StatusOr, which this absl does not bring.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::test {

inline const absl::Status& GetStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

// Of a Status or StatusOr.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  const absl::Status& status = GetStatus(arg);
  if (!status.ok()) *result_listener << "whose status is " << status.ToString();
  return status.ok();
}

// Of a Status or StatusOr: matchers (or values) for its code and its message.
MATCHER_P2(StatusIs, code, message, "has a status whose code and message match") {
  const absl::Status& status = GetStatus(arg);
  *result_listener << "whose status is " << status.ToString();
  return ::testing::Value(status.code(), code) &&
         ::testing::Value(std::string(status.message()), message);
}
template <typename Code>
auto StatusIs(Code code) {
  return StatusIs(code, ::testing::_);
}

// Of a StatusOr: a matcher (or value) for what it holds.
MATCHER_P(IsOkAndHolds, value, "is OK and holds a value that matches") {
  if (!arg.ok()) {
    *result_listener << "whose status is " << arg.status().ToString();
    return false;
  }
  using Held = typename std::decay_t<decltype(arg)>::value_type;
  return ::testing::ExplainMatchResult(::testing::SafeMatcherCast<const Held&>(value), *arg,
                                       result_listener);
}

}  // namespace gdnplan::test
