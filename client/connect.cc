// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/connect.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace {

// Long enough for one attempt at connecting.
constexpr std::chrono::milliseconds kOneAttempt{1'000};

// The operating system's word for it, which is the last part of "failed to connect to all
// addresses; last error: UNKNOWN: unix:/x: No such file or directory".
std::string_view Reason(std::string_view message) {
  if (message.find("last error: ") == std::string_view::npos) return message;
  const size_t at = message.rfind(": ");
  return message.substr(at + 2);
}

absl::Status NobodyThere(const absl::Status& status, const std::string& address,
                         std::chrono::milliseconds timeout) {
  const std::string text(status.message());
  return absl::UnavailableError(absl::StrCat(
      "cannot reach a gdnplan server at ", address, ": ", plan::ToAbsl(Reason(text)),
      " (tried for ", timeout.count(), " ms); start one with gdnplan-server --listen=", address,
      " or give the address of one that runs"));
}

}  // namespace

absl::Status AwaitServer(const std::function<absl::Status(const CallContext&)>& ask,
                         const std::string& address, std::chrono::milliseconds timeout) {
  absl::Status status;
  if (timeout > std::chrono::milliseconds::zero()) {
    status = ask({.deadline = timeout, .wait_for_ready = true});
  }
  // A call that waited ran into its deadline and says nothing of why; one that does not wait does.
  if (timeout <= std::chrono::milliseconds::zero() || absl::IsDeadlineExceeded(status)) {
    status = ask({.deadline = kOneAttempt});
  }
  if (status.ok()) return status;
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    return NobodyThere(status, address, timeout);
  }
  if (absl::IsUnimplemented(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat(address, " answers but is no gdnplan server: ", status.message()));
  }
  return {status.code(), absl::StrCat(address, ": ", status.message())};
}

}  // namespace gdnplan::client
