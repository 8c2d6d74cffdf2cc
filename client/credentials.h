// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a connection shows of itself, and what it asks of the server.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/call_token.h"
#include "gdnplan/client/client.h"

namespace gdnplan::client {

struct Credentials {
  std::shared_ptr<grpc::ChannelCredentials> channel;
  std::string server_name;           // that the certificate must have; empty: the address's
  std::shared_ptr<CallToken> token;  // none: calls go without
};

// InvalidArgument and others name the option or the file. FailedPrecondition: a token would go
// through a network in plain text.
absl::StatusOr<Credentials> MakeCredentials(const std::string& address,
                                            const ClientOptions& options);

}  // namespace gdnplan::client
