// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The server's descriptions to the library's types. A description that cannot be right is Internal:
// it is the server's fault, and nothing in it may become an address.
#pragma once

#include "absl/status/statusor.h"
#include "gdnplan/client/plan_record.h"
#include "gdnplan/client/session_info.h"
#include "gdnplan/client/types.h"
#include "gdnplan/v1/plan.pb.h"
#include "gdnplan/v1/planner.pb.h"
#include "gdnplan/v1/session.pb.h"

namespace gdnplan::client {

ServerInfo Describe(const v1::GetServerInfoResponse& message);
absl::StatusOr<SessionSummary> Describe(const v1::SessionSummary& message);
absl::StatusOr<SessionInfo> Describe(const v1::SessionDescription& message);

// InvalidArgument on a staging that this version does not know.
absl::StatusOr<PlanRecord> ToRecord(const v1::Plan& message);

// Whether every place of the plan lies within the session's arenas and fits its table.
absl::Status CheckPlan(const SessionInfo& session, const PlanRecord& plan);

}  // namespace gdnplan::client
