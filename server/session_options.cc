// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_options.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "wire/convert.h"

namespace gdnplan::server {
namespace {

constexpr size_t kMaxNameBytes = 128;

absl::StatusOr<TimelinePlace> FromProto(v1::TimelinePlace place) {
  switch (place) {
    case v1::TIMELINE_PLACE_UNSPECIFIED:
    case v1::TIMELINE_PLACE_ARENA:
      return TimelinePlace::kArena;
    case v1::TIMELINE_PLACE_HOST_PAGE:
      return TimelinePlace::kHostPage;
    default:
      return plan::InvalidField("timeline", absl::StrCat("unknown value (got ", place, ")"));
  }
}

absl::StatusOr<bool> IsGuarded(v1::SlotReuse reuse) {
  switch (reuse) {
    case v1::SLOT_REUSE_UNSPECIFIED:
    case v1::SLOT_REUSE_UNGUARDED:
      return false;
    case v1::SLOT_REUSE_CONSUMED:
      return true;
    default:
      return plan::InvalidField("slot_reuse", absl::StrCat("unknown value (got ", reuse, ")"));
  }
}

}  // namespace

absl::StatusOr<SessionOptions> OptionsOf(const v1::OpenSessionRequest& request) {
  if (request.name().size() > kMaxNameBytes) {
    return plan::InvalidField("name", absl::StrCat("must have at most ", kMaxNameBytes,
                                                   " bytes (got ", request.name().size(), ")"));
  }
  SessionOptions options;
  GDNPLAN_ASSIGN_OR_RETURN(options.config, wire::FromProto(request.config()));
  GDNPLAN_ASSIGN_OR_RETURN(options.guarded, IsGuarded(request.slot_reuse()));
  GDNPLAN_ASSIGN_OR_RETURN(options.timeline, FromProto(request.timeline()));
  options.num_slots = wire::NumSlots(request.config());
  options.name = request.name();
  if (request.slot_wait_ms() > 0) {
    options.slot_wait = std::chrono::milliseconds(request.slot_wait_ms());
  }
  return options;
}

}  // namespace gdnplan::server
