// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/answer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/describe.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {

v1::Completion ToCompletion(const PlanOptions& options) {
  return options.wait_complete ? v1::COMPLETION_WAIT : v1::COMPLETION_ENQUEUED;
}

absl::Status ToStatus(const v1::PlanError& error) {
  constexpr int kLastCode = static_cast<int>(absl::StatusCode::kUnauthenticated);
  if (error.code() <= 0 || error.code() > kLastCode) {
    return absl::InternalError(absl::StrCat("the server's answer is wrong: an error of code ",
                                            error.code(), ": ", error.message()));
  }
  return {static_cast<absl::StatusCode>(error.code()), error.message()};
}

absl::StatusOr<PlanView> ToView(const std::shared_ptr<SessionState>& session,
                                const v1::Plan& message, size_t device) {
  if (message.plan_id() == 0) {
    return absl::InternalError("the server's plan is wrong: it has no plan_id, or there is none");
  }
  absl::StatusOr<PlanRecord> record = ToRecord(message);
  if (!record.ok()) {
    return absl::InternalError(
        absl::StrCat("the server's plan is wrong: ", record.status().message()));
  }
  GDNPLAN_RETURN_IF_ERROR(CheckPlan(session->info(), *record));
  return session->View(*std::move(record), device);
}

}  // namespace gdnplan::client
