// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the log says of sessions and of requests about them.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/log_limit.h"
#include "server/session.h"

namespace gdnplan::server {

// Thread safe, and does not block. All of it is what clients cause, so each kind of line is
// limited.
class SessionLog {
 public:
  void Opened(const Session& session);
  void Closed(const Session& session);
  void Lapsed(const Session& session);
  // `session`: its number, 0 where there is none.
  void Refused(const absl::Status& status, uint64_t session);

 private:
  static constexpr int kLinesASecond = 20;

  LogLimit opened_{kLinesASecond};
  LogLimit closed_{kLinesASecond};
  LogLimit lapsed_{kLinesASecond};
  LogLimit refused_{kLinesASecond};
};

}  // namespace gdnplan::server
