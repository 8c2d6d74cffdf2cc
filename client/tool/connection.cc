// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "client/tool/command.h"
#include "wire/default_address.h"

namespace gdnplan::tool {
namespace {

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1'000));
}

}  // namespace

std::string Connection::address() const { return server.empty() ? wire::DefaultAddress() : server; }

client::ClientOptions Connection::options() const {
  client::ClientOptions options;
  options.connect_timeout = Milliseconds(connect_timeout_s);
  options.call_deadline = Milliseconds(timeout_s);
  options.open_deadline = Milliseconds(timeout_s);
  options.tls = tls;
  options.token_file = token_file;
  return options;
}

absl::StatusOr<client::Client> Connection::Connect() const {
  return client::Client::Connect(server, options());
}

}  // namespace gdnplan::tool
