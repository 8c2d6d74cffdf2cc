// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The server's log: one line an event, as text or as JSON.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "server/log_limit.h"

namespace gdnplan::server {

enum class LogFormat : uint8_t { kText, kJson };
enum class Severity : uint8_t { kDebug, kInfo, kWarn, kError, kCritical };

// One of an event's fields. Names are those of the protocol where it has the thing, too.
struct LogField {
  template <std::integral T>
  LogField(const char* label, T number) : name(label), value(static_cast<int64_t>(number)) {}
  LogField(const char* label, std::string_view text) : name(label), value(std::string(text)) {}
  LogField(const char* label, const char* text) : name(label), value(std::string(text)) {}
  LogField(const char* label, const std::string& text) : name(label), value(text) {}

  const char* name;
  std::variant<int64_t, std::string> value;
};

// To standard error. A thread of the log's own writes, and drops the oldest lines when nobody takes
// them: whoever does not read the log must not stop the server. Before any Log.
void StartLog(const std::string& level, LogFormat format);
// Waits until all lines are written, for ever if nobody takes them. What comes later is dropped.
void StopLog();

// Text: "2026-01-01 00:00:00.000 [info] session opened: session=3 name=\"a\"". JSON:
// {"time":"2026-01-01T00:00:00.000Z","level":"info","event":"session
// opened","session":3,"name":"a"}. Thread safe, and does not block.
void Log(Severity severity, std::string_view event, std::initializer_list<LogField> fields = {});
// One of a kind that clients or libraries cause again and again: written if `limit` has room, and
// then says how many before it had none, in a last field `left_out`.
void Log(Severity severity, LogLimit& limit, std::string_view event,
         std::initializer_list<LogField> fields);
// Whether such an event would be written.
bool Logs(Severity severity);

// What one event looks like without time and level. `left_out`: 0 is not shown.
std::string FormatEvent(LogFormat format, std::string_view event,
                        std::initializer_list<LogField> fields, uint64_t left_out = 0);

}  // namespace gdnplan::server
