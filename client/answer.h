// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Between the messages of plans and what callers see of them.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/session_state.h"
#include "gdnplan/client/plan_stream.h"
#include "gdnplan/client/plan_view.h"
#include "gdnplan/v1/planner.pb.h"

namespace gdnplan::client {

v1::Completion ToCompletion(const PlanOptions& options);

// A refused request's error; one without an error's code is Internal.
absl::Status ToStatus(const v1::PlanError& error);

// A plan as the server sent it, checked: whatever is wrong with it is Internal.
absl::StatusOr<PlanView> ToView(const std::shared_ptr<SessionState>& session,
                                const v1::Plan& message, size_t device);

}  // namespace gdnplan::client
