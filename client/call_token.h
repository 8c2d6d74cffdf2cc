// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The token that goes with every call.
#pragma once

#include <grpcpp/client_context.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "wire/bearer_token.h"

namespace gdnplan::client {

// Thread safe. Looks once a second, at a call, whether the file has changed; one that is no good
// leaves the token as it was.
class CallToken {
 public:
  // The errors of wire::ReadTokens.
  static absl::StatusOr<std::shared_ptr<CallToken>> Open(const std::string& path);

  void AddTo(grpc::ClientContext& context);

 private:
  using Clock = std::chrono::steady_clock;

  CallToken(wire::TokenReader reader, const std::string& token);

  std::mutex mutex_;
  wire::TokenReader reader_;
  Clock::time_point looked_ = Clock::now();
  std::string authorization_;
};

}  // namespace gdnplan::client
