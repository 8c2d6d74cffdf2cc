// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "server/log.h"
#include "server/log_limit.h"

namespace gdnplan::server {
namespace {

constexpr int kLinesASecond = 10;

// One library's lines.
class LimitedLog {
 public:
  // `event` must outlive this.
  explicit LimitedLog(const char* event) : event_(event) {}

  void Write(Severity severity, std::string_view file, int line, std::string_view message) {
    const std::string_view name = file.substr(file.rfind('/') + 1);
    Log(severity, limit_, event_,
        {{"reason", message}, {"source", absl::StrCat(plan::ToAbsl(name), ":", line)}});
  }

 private:
  const char* const event_;
  LogLimit limit_{kLinesASecond};
};

Severity Of(gpr_log_severity severity) {
  switch (severity) {
    case GPR_LOG_SEVERITY_DEBUG:
      return Severity::kDebug;
    case GPR_LOG_SEVERITY_INFO:
      return Severity::kInfo;
    default:
      return Severity::kError;
  }
}

Severity Of(google::protobuf::LogLevel level) {
  switch (level) {
    case google::protobuf::LOGLEVEL_INFO:
      return Severity::kInfo;
    case google::protobuf::LOGLEVEL_WARNING:
      return Severity::kWarn;
    case google::protobuf::LOGLEVEL_ERROR:
      return Severity::kError;
    default:
      return Severity::kCritical;
  }
}

// Never destroyed: threads of gRPC may outlive main.
void LogGrpc(gpr_log_func_args* args) {
  static auto& log = *new LimitedLog("gRPC");
  log.Write(Of(args->severity), args->file, args->line, args->message);
}

void LogProtobuf(google::protobuf::LogLevel level, const char* file, int line,
                 const std::string& message) {
  static auto& log = *new LimitedLog("Protobuf");
  log.Write(Of(level), file, line, message);
}

}  // namespace

void TakeLibraryLogs() {
  gpr_set_log_function(LogGrpc);
  google::protobuf::SetLogHandler(LogProtobuf);
}

}  // namespace gdnplan::server
