// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/plan_recorder.h"

#include <new>

#include "absl/strings/cord.h"
#include "gdnplan/plan/status.h"
#include "server/plan_trace.h"

namespace gdnplan::server {
namespace {

// "block_tables[3].data[7]" is block_tables.data: the values of a label are few.
std::string WithoutIndices(const std::string& field) {
  std::string plain;
  bool inside = false;
  for (const char c : field) {
    if (c == '[') inside = true;
    if (!inside) plain += c;
    if (c == ']') inside = false;
  }
  return plain;
}

}  // namespace

void PlanRecorder::RecordStage(Stage stage, CallTimes::Time from, CallTimes::Time to) {
  if (from == CallTimes::kNever || to == CallTimes::kNever) return;
  stages_[static_cast<size_t>(stage)].Record(to - from);
}

void PlanRecorder::Record(const CallRecord& call) {
  if (trace_ != nullptr) trace_->Add(call);
  if (call.code != absl::StatusCode::kOk) return;
  const CallTimes& times = call.times;
  calls_[static_cast<size_t>(call.kind)].fetch_add(1, std::memory_order_relaxed);
  RecordStage(Stage::kParse, times.received, times.submitted);
  RecordStage(Stage::kWait, times.submitted, times.begun);
  RecordStage(Stage::kPlan, times.begun, times.enqueued);
  RecordStage(Stage::kReady, times.enqueued, times.answered);
  RecordStage(Stage::kTotal, times.received == CallTimes::kNever ? times.submitted : times.received,
              times.answered);
}

void PlanRecorder::Refused(const absl::Status& status, uint64_t session) {
  try {
    const auto field = status.GetPayload(plan::ToAbsl(plan::kFieldPayload));
    Refusal refusal{status.code(), field.has_value() ? WithoutIndices(std::string(*field)) : ""};
    {
      MutexLock lock(mutex_);
      if (refusals_.size() >= kMaxRefusals && refusals_.count(refusal) == 0) {
        refusal.field = "other";
      }
      ++refusals_[refusal];
    }
    if (on_refusal_) on_refusal_(status, session);
  } catch (const std::bad_alloc&) {
    // Where memory is short, refusals are many and one of them is not worth the process.
  }
}

PlanRecorder::Refusals PlanRecorder::refusals() const {
  MutexLock lock(mutex_);
  return refusals_;
}

}  // namespace gdnplan::server
