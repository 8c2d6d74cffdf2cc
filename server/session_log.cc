// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_log.h"

#include <string>

#include "server/log.h"

namespace gdnplan::server {

void SessionLog::Opened(const Session& session) {
  Log(Severity::kInfo, opened_, "session opened",
      {{"session", session.number()},
       {"name", session.options().name},
       {"slots", session.layout().num_slots},
       {"slot_bytes", session.layout().slot_stride},
       {"devices", session.arenas().size()}});
}

void SessionLog::Closed(const Session& session) {
  Log(Severity::kInfo, closed_, "session closed",
      {{"session", session.number()}, {"plans", session.statistics().num_plans}});
}

void SessionLog::Lapsed(const Session& session) {
  Log(Severity::kWarn, lapsed_, "session ended, for its owner gave no sign",
      {{"session", session.number()},
       {"name", session.options().name},
       {"plans", session.statistics().num_plans}});
}

void SessionLog::Refused(const absl::Status& status, uint64_t session) {
  Log(Severity::kWarn, refused_, "request refused",
      {{"session", session},
       {"code", absl::StatusCodeToString(status.code())},
       {"reason", std::string(status.message())}});
}

}  // namespace gdnplan::server
