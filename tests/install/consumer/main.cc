// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Links all of the client library and meets no server.
#include <chrono>
#include <cstdio>

#include "gdnplan/client/client.h"

int main() {
  gdnplan::client::ClientOptions options;
  options.connect_timeout = std::chrono::milliseconds(1);
  const auto client =
      gdnplan::client::Client::Connect("unix:/nonexistent/gdnplan_consumer.sock", options);
  std::printf("%s\n", client.status().ToString().c_str());
  return absl::IsUnavailable(client.status()) ? 0 : 1;
}
