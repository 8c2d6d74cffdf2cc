// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What an OpenSession request asks for.
#pragma once

#include "absl/status/statusor.h"
#include "gdnplan/v1/planner.pb.h"
#include "server/session.h"

namespace gdnplan::server {

// With defaults filled in. InvalidArgument names the field.
absl::StatusOr<SessionOptions> OptionsOf(const v1::OpenSessionRequest& request);

}  // namespace gdnplan::server
