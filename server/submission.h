// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A request for a plan as a session takes it, made from a message.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/v1/batch.pb.h"
#include "gdnplan/v1/planner.pb.h"
#include "server/session_call.h"

namespace gdnplan::server {

// May be used again after Done: then it does not allocate once it is warm.
class Submission : public SessionCall {
 public:
  // Look at the message, which must live until Done. InvalidArgument names the field.
  absl::Status Take(const v1::PlanRequest& request);
  absl::Status Take(const v1::PlanStreamRequest& request);
  absl::Status Take(const v1::UpdateBlockTableRequest& request);

 private:
  absl::Status TakeBatch(const v1::Batch& batch, v1::Completion completion, uint64_t promised);

  std::vector<plan::BlockTableView> tables_;
};

}  // namespace gdnplan::server
