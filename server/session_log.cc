// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_log.h"

#include <string>

#include "server/log.h"

namespace gdnplan::server {

void SessionLog::Opened(const Session& session) {
  const auto left_out = opened_.Take();
  if (!left_out.has_value()) return;
  Log(Severity::kInfo, "session opened",
      {{"session", session.number()},
       {"name", session.options().name},
       {"slots", session.layout().num_slots},
       {"slot_bytes", session.layout().slot_stride},
       {"devices", session.arenas().size()},
       {"left_out", *left_out}});
}

void SessionLog::Closed(const Session& session) {
  const auto left_out = closed_.Take();
  if (!left_out.has_value()) return;
  Log(Severity::kInfo, "session closed",
      {{"session", session.number()},
       {"plans", session.statistics().num_plans},
       {"left_out", *left_out}});
}

void SessionLog::Lapsed(const Session& session) {
  const auto left_out = lapsed_.Take();
  if (!left_out.has_value()) return;
  Log(Severity::kWarn, "session ended, for its owner gave no sign",
      {{"session", session.number()},
       {"name", session.options().name},
       {"plans", session.statistics().num_plans},
       {"left_out", *left_out}});
}

void SessionLog::Refused(const absl::Status& status, uint64_t session) {
  const auto left_out = refused_.Take();
  if (!left_out.has_value()) return;
  Log(Severity::kWarn, "request refused",
      {{"session", session},
       {"code", absl::StatusCodeToString(status.code())},
       {"reason", std::string(status.message())},
       {"left_out", *left_out}});
}

}  // namespace gdnplan::server
