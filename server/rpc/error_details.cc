// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/error_details.h"

#include <google/protobuf/util/time_util.h>

#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "gdnplan/plan/status.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "wire/grpc_status.h"

namespace gdnplan::server {
namespace {

// The text is "field: description".
google::rpc::BadRequest Violation(const std::string& field, const std::string& text) {
  google::rpc::BadRequest bad;
  google::rpc::BadRequest::FieldViolation& violation = *bad.add_field_violations();
  violation.set_field(field);
  const std::string prefix = field + ": ";
  violation.set_description(text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text);
  return bad;
}

}  // namespace

grpc::Status ToRpcStatus(const absl::Status& status) {
  grpc::Status plain = wire::ToGrpc(status);
  if (plain.ok()) return plain;
  google::rpc::Status details;
  if (const auto field = status.GetPayload(plan::ToAbsl(plan::kFieldPayload)); field.has_value()) {
    details.add_details()->PackFrom(Violation(std::string(*field), plain.error_message()));
  }
  if (const auto delay = plan::RetryDelay(status); delay.has_value()) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() =
        google::protobuf::util::TimeUtil::MillisecondsToDuration(delay->count());
    details.add_details()->PackFrom(retry);
  }
  if (details.details().empty()) return plain;
  details.set_code(plain.error_code());
  details.set_message(plain.error_message());
  return {plain.error_code(), plain.error_message(), details.SerializeAsString()};
}

}  // namespace gdnplan::server
