// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "client/health.h"
#include "client/tool/command.h"
#include "client/tool/usage.h"
#include "wire/default_address.h"

namespace gdnplan::tool {
namespace {

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1'000));
}

// The library's options by their flags.
absl::Status WithFlag(const absl::Status& status) {
  constexpr std::pair<const char*, const char*> kFlags[] = {{"tls.ca_file: ", "--tls-ca: "},
                                                            {"tls.cert_file: ", "--tls-cert: "},
                                                            {"tls.key_file: ", "--tls-key: "},
                                                            {"token_file: ", "--token-file: "}};
  constexpr std::string_view kAddress = "address: ";
  const std::string text(status.message());
  if (text.starts_with(kAddress)) return WrongUsage("--server", text.substr(kAddress.size()));
  for (const auto& [name, flag] : kFlags) {
    if (!text.starts_with(name)) continue;
    return absl::Status(status.code(), flag + text.substr(std::string_view(name).size()));
  }
  return status;
}

}  // namespace

std::string Connection::address() const { return server.empty() ? wire::DefaultAddress() : server; }

std::chrono::milliseconds Connection::timeout() const { return Milliseconds(timeout_s); }

client::ClientOptions Connection::options() const {
  client::ClientOptions options;
  options.connect_timeout = Milliseconds(connect_timeout_s);
  options.call_deadline = timeout();
  options.open_deadline = timeout();
  options.tls = tls;
  options.token_file = token_file;
  return options;
}

absl::StatusOr<client::Client> Connection::Connect() const {
  absl::StatusOr<client::Client> client = client::Client::Connect(server, options());
  if (!client.ok()) return WithFlag(client.status());
  return client;
}

absl::Status Connection::CheckHealth() const {
  client::ClientOptions asked = options();
  asked.token_file.clear();  // it needs none
  return WithFlag(client::CheckHealth(address(), asked));
}

}  // namespace gdnplan::tool
