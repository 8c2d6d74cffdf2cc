// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/limits.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

absl::Status AtMost(const char* field, int64_t value, const char* flag, int64_t limit) {
  if (value <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(field, ": this server allows ", limit, " (",
                                                   flag, "; got ", value,
                                                   "); ask for less, or raise the limit"));
}

}  // namespace

absl::Status CheckLimits(const Limits& limits, const plan::PlanConfig& config,
                         const plan::ArenaLayout& layout) {
  GDNPLAN_RETURN_IF_ERROR(
      AtMost("max_num_seqs", config.max_num_seqs, "--max-num-seqs", limits.max_num_seqs));
  GDNPLAN_RETURN_IF_ERROR(AtMost("max_num_batched_tokens", config.max_num_batched_tokens,
                                 "--max-num-batched-tokens", limits.max_num_batched_tokens));
  GDNPLAN_RETURN_IF_ERROR(AtMost("groups", config.num_groups(), "--max-groups", limits.max_groups));
  GDNPLAN_RETURN_IF_ERROR(AtMost("num_slots", layout.num_slots, "--max-slots", limits.max_slots));
  if (limits.max_session_bytes == 0) return absl::OkStatus();
  return AtMost("session bytes", static_cast<int64_t>(layout.arena_bytes), "--max-session-bytes",
                static_cast<int64_t>(limits.max_session_bytes));
}

}  // namespace gdnplan::server
