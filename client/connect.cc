// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/connect.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "wire/host_port.h"

namespace gdnplan::client {
namespace {

// Long enough for one attempt at connecting.
constexpr std::chrono::milliseconds kOneAttempt{1'000};

// What gRPC says, and what it means here.
struct Explanation {
  std::string_view said;
  std::string_view reason;  // empty: as said
  std::string_view advice;
};
constexpr char kClosed[] =
    "what listens there closed the connection: it may ask for TLS or for a client's certificate, "
    "its --allow-uid may not name this user, or it is no gdnplan server";
constexpr char kUntrusted[] =
    "its certificate is not issued by the authority given here, or is for another name";
constexpr char kNoTls[] = "it does not speak TLS there; connect without, or give it --tls-cert";
constexpr Explanation kExplanations[] = {
    {"DNS resolution failed", "its host's name is not known here", "check the address"},
    {"Too many open files", "this process has no descriptor left", "raise its limit (ulimit -n)"},
    {"Cannot allocate memory", "this process has no memory left", "raise its limit (ulimit -v)"},
    {"Permission denied", "",
     "connect as root, as the server's user, or as one of its socket's group"},
    // OpenSSL's versions spell it differently.
    {"certificate verify failed", "", kUntrusted},
    {"CERTIFICATE_VERIFY_FAILED", "", kUntrusted},
    {"Hostname Verification", "", kUntrusted},
    {"wrong version number", "", kNoTls},
    {"WRONG_VERSION_NUMBER", "", kNoTls},
    {"Socket closed", "", kClosed},
    {"Broken pipe", "", kClosed},
    {"Connection reset", "", kClosed},
    {"Deadline Exceeded", "it does not answer",
     "give the address of one that does, or start that one again"},
    {"last error: OK", "it does not answer as a gRPC server", "check the address"},
};

// The operating system's word for it, which is the last part of "failed to connect to all
// addresses; last error: UNKNOWN: unix:/x: No such file or directory".
std::string_view LastError(std::string_view message) {
  if (message.find("last error: ") == std::string_view::npos) return message;
  const size_t at = message.rfind(": ");
  return message.substr(at + 2);
}

absl::Status NobodyThere(const absl::Status& status, const std::string& address,
                         std::chrono::milliseconds timeout) {
  const std::string text(status.message());
  const auto* found = std::find_if(
      std::begin(kExplanations), std::end(kExplanations),
      [&text](const Explanation& known) { return text.find(known.said) != std::string::npos; });
  const bool known = found != std::end(kExplanations);
  const std::string_view reason = known && !found->reason.empty() ? found->reason : LastError(text);
  const std::string advice = known ? std::string(found->advice)
                                   : "start one with gdnplan-server --listen=" + address +
                                         " or give the address of one that runs";
  return absl::UnavailableError(absl::StrCat("cannot reach a gdnplan server at ", address, ": ",
                                             plan::ToAbsl(reason), " (tried for ", timeout.count(),
                                             " ms); ", advice));
}

}  // namespace

absl::Status CheckAddress(const std::string& address) {
  for (const std::string_view scheme : {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"}) {
    if (address.starts_with(scheme) && address.size() > scheme.size()) return absl::OkStatus();
  }
  const auto split = wire::SplitHostPort(address);
  const auto port = split.has_value() ? wire::PortNumber(split->port) : std::nullopt;
  if (port.value_or(0) > 0) return absl::OkStatus();
  return plan::InvalidField(
      "address", absl::StrCat("must be unix:PATH, HOST:PORT or [IPV6]:PORT (got ", address, ")"));
}

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
