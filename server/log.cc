// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace gdnplan::server {
namespace {

constexpr size_t kLinesWaiting = 8192;
// spdlog puts the event, which is the object's inside, in place of %v.
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
constexpr char kTextPattern[] = "%Y-%m-%d %H:%M:%S.%e [%l] %v";

LogFormat format_now = LogFormat::kText;

// Never destroyed, and there after StopLog, too: threads of libraries may log until the very end.
std::shared_ptr<spdlog::logger>& Logger() {
  static auto& logger = *new std::shared_ptr<spdlog::logger>(std::make_shared<spdlog::logger>(
      "gdnplan-server", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  return logger;
}

spdlog::level::level_enum Level(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return spdlog::level::debug;
    case Severity::kInfo:
      return spdlog::level::info;
    case Severity::kWarn:
      return spdlog::level::warn;
    case Severity::kError:
      return spdlog::level::err;
    default:
      return spdlog::level::critical;
  }
}

// Control characters escaped, so that a line stays one; bytes that are no UTF-8 replaced.
std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void Write(Severity severity, const std::string& line) {
  // As an argument: the line is no format.
  Logger()->log(Level(severity), "{}", line);
}

std::string Shown(const LogField& field) {
  if (const auto* number = std::get_if<int64_t>(&field.value)) return std::to_string(*number);
  return Quoted(std::get<std::string>(field.value));
}

}  // namespace

std::string FormatEvent(LogFormat format, std::string_view event,
                        std::initializer_list<LogField> fields, uint64_t left_out) {
  std::string line = format == LogFormat::kJson ? "\"event\":" + Quoted(event) : std::string(event);
  const char* separator = ": ";
  const auto append = [&](const LogField& field) {
    if (format == LogFormat::kJson) {
      absl::StrAppend(&line, ",\"", field.name, "\":", Shown(field));
    } else {
      absl::StrAppend(&line, separator, field.name, "=", Shown(field));
      separator = " ";
    }
  };
  for (const LogField& field : fields) append(field);
  if (left_out > 0) append({"left_out", left_out});
  return line;
}

void StartLog(const std::string& level, LogFormat format) {
  format_now = format;
  spdlog::init_thread_pool(kLinesWaiting, 1);
  Logger() = spdlog::create_async_nb<spdlog::sinks::stderr_sink_mt>("gdnplan-server");
  Logger()->set_level(spdlog::level::from_str(level));
  // Only what comes after StopLog, which has nowhere to go.
  Logger()->set_error_handler([](const std::string& /*message*/) {});
  if (format == LogFormat::kJson) {
    Logger()->set_pattern(kJsonPattern, spdlog::pattern_time_type::utc);
  } else {
    Logger()->set_pattern(kTextPattern);
  }
}

void StopLog() { spdlog::shutdown(); }

bool Logs(Severity severity) { return Logger()->should_log(Level(severity)); }

void Log(Severity severity, std::string_view event, std::initializer_list<LogField> fields) {
  if (!Logs(severity)) return;
  Write(severity, FormatEvent(format_now, event, fields));
}

void Log(Severity severity, LogLimit& limit, std::string_view event,
         std::initializer_list<LogField> fields) {
  if (!Logs(severity)) return;
  if (const auto left_out = limit.Take()) {
    Write(severity, FormatEvent(format_now, event, fields, *left_out));
  }
}

}  // namespace gdnplan::server
