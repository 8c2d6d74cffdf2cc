// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Errors as RPCs end with them: with details that programs read.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace gdnplan::server {

// wire::ToGrpc, and google.rpc details: BadRequest where a field is named (plan::InvalidField),
// RetryInfo where waiting helps (plan::RetryAfter). Without either no detail is sent.
grpc::Status ToRpcStatus(const absl::Status& status);

}  // namespace gdnplan::server
