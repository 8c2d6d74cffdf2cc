// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/submission.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "server/nvtx.h"
#include "wire/convert.h"

namespace gdnplan::server {
namespace {

absl::StatusOr<Completion> FromProto(v1::Completion completion) {
  switch (completion) {
    case v1::COMPLETION_UNSPECIFIED:
    case v1::COMPLETION_ENQUEUED:
      return Completion::kEnqueued;
    case v1::COMPLETION_WAIT:
      return Completion::kWait;
    default:
      return plan::InvalidField("completion", absl::StrCat("unknown value (got ", completion, ")"));
  }
}

}  // namespace

absl::Status Submission::TakeBatch(const v1::Batch& batch, v1::Completion how, uint64_t promised) {
  const NvtxRange range("parse");
  received = Clock::now();
  GDNPLAN_ASSIGN_OR_RETURN(completion, FromProto(how));
  GDNPLAN_ASSIGN_OR_RETURN(input, wire::FromProto(batch, tables_));
  consumption_promised = promised;
  return absl::OkStatus();
}

absl::Status Submission::Take(const v1::PlanRequest& request) {
  return TakeBatch(request.batch(), request.completion(), request.consumption_promised());
}

absl::Status Submission::Take(const v1::PlanStreamRequest& request) {
  return TakeBatch(request.batch(), request.completion(), request.consumption_promised());
}

absl::Status Submission::Take(const v1::UpdateBlockTableRequest& request) {
  const NvtxRange range("parse");
  received = Clock::now();
  GDNPLAN_ASSIGN_OR_RETURN(completion, FromProto(request.completion()));
  input = UpdateInput{.plan_id = request.plan_id(),
                      .group = request.group(),
                      .table = wire::FromProto(request.block_table())};
  consumption_promised = 0;
  return absl::OkStatus();
}

}  // namespace gdnplan::server
