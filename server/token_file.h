// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The tokens that a server takes from its callers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/mutex.h"
#include "wire/bearer_token.h"

namespace gdnplan::server {

// Thread safe. A thread of its own reads the file again within a second of a change; what cannot be
// read, or is no good, leaves the tokens as they were.
class TokenFile {
 public:
  // The errors of wire::ReadTokens.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(const std::string& path);
  ~TokenFile();

  // `authorization`: of a call's metadata, or empty. Unauthenticated: it is not "Bearer " and one
  // of the tokens.
  absl::Status Check(std::string_view authorization) const;

 private:
  TokenFile(wire::TokenReader reader, std::vector<std::string> tokens);

  void Run();
  void Look();

  wire::TokenReader reader_;  // the thread's
  mutable Mutex mutex_;
  CondVar wake_;
  std::vector<std::string> tokens_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gdnplan::server
