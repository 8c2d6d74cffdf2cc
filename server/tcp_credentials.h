// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a server's TCP addresses speak.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access_options.h"
#include "server/listen_address.h"

namespace gdnplan::server {

// InvalidArgument when an address beyond loopback would be open to the network without TLS, or when
// the options of TLS do not fit together. Reads no file.
absl::Status CheckAccess(const AccessOptions& options, const std::vector<ListenAddress>& addresses);

// TLS where there is a certificate. The errors of CheckAccess, or what is wrong with a file.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const AccessOptions& options, const std::vector<ListenAddress>& addresses);

}  // namespace gdnplan::server
