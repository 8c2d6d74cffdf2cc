// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/grpc_status.h"

#include <string>

namespace gdnplan::wire {
namespace {

// The two enumerations are the same numbers; prove it, then cast.
constexpr bool Same(grpc::StatusCode a, absl::StatusCode b) {
  return static_cast<int>(a) == static_cast<int>(b);
}
static_assert(Same(grpc::StatusCode::OK, absl::StatusCode::kOk));
static_assert(Same(grpc::StatusCode::CANCELLED, absl::StatusCode::kCancelled));
static_assert(Same(grpc::StatusCode::UNKNOWN, absl::StatusCode::kUnknown));
static_assert(Same(grpc::StatusCode::INVALID_ARGUMENT, absl::StatusCode::kInvalidArgument));
static_assert(Same(grpc::StatusCode::DEADLINE_EXCEEDED, absl::StatusCode::kDeadlineExceeded));
static_assert(Same(grpc::StatusCode::NOT_FOUND, absl::StatusCode::kNotFound));
static_assert(Same(grpc::StatusCode::ALREADY_EXISTS, absl::StatusCode::kAlreadyExists));
static_assert(Same(grpc::StatusCode::PERMISSION_DENIED, absl::StatusCode::kPermissionDenied));
static_assert(Same(grpc::StatusCode::RESOURCE_EXHAUSTED, absl::StatusCode::kResourceExhausted));
static_assert(Same(grpc::StatusCode::FAILED_PRECONDITION, absl::StatusCode::kFailedPrecondition));
static_assert(Same(grpc::StatusCode::ABORTED, absl::StatusCode::kAborted));
static_assert(Same(grpc::StatusCode::OUT_OF_RANGE, absl::StatusCode::kOutOfRange));
static_assert(Same(grpc::StatusCode::UNIMPLEMENTED, absl::StatusCode::kUnimplemented));
static_assert(Same(grpc::StatusCode::INTERNAL, absl::StatusCode::kInternal));
static_assert(Same(grpc::StatusCode::UNAVAILABLE, absl::StatusCode::kUnavailable));
static_assert(Same(grpc::StatusCode::DATA_LOSS, absl::StatusCode::kDataLoss));
static_assert(Same(grpc::StatusCode::UNAUTHENTICATED, absl::StatusCode::kUnauthenticated));

constexpr int kLastCode = static_cast<int>(absl::StatusCode::kUnauthenticated);

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const int code = static_cast<int>(status.error_code());
  return {code < 0 || code > kLastCode ? absl::StatusCode::kUnknown
                                       : static_cast<absl::StatusCode>(code),
          status.error_message()};
}

}  // namespace gdnplan::wire
