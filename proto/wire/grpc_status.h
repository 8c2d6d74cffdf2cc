// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// absl status to gRPC status and back. Nothing else of ours writes a grpc::StatusCode.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace gdnplan::wire {

grpc::Status ToGrpc(const absl::Status& status);
// Codes that absl does not know become Unknown.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace gdnplan::wire
