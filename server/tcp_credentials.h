// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a server's TCP addresses speak.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access_options.h"
#include "server/listen_address.h"

namespace gdnplan::server {

// TLS where there is a certificate. InvalidArgument when an address beyond loopback would be open
// to the network without it, or when the options or the files of TLS do not fit together.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const AccessOptions& options, const std::vector<ListenAddress>& addresses);

}  // namespace gdnplan::server
