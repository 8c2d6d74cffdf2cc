// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/tcp_credentials.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "wire/loopback.h"
#include "wire/tls_files.h"

namespace gdnplan::server {

absl::Status CheckAccess(const AccessOptions& options,
                         const std::vector<ListenAddress>& addresses) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return options.tls_key.empty() ? plan::InvalidField("--tls-cert", "needs --tls-key, too")
                                   : plan::InvalidField("--tls-key", "needs --tls-cert, too");
  }
  if (!options.tls_cert.empty()) return absl::OkStatus();
  if (!options.tls_client_ca.empty()) {
    return plan::InvalidField("--tls-client-ca", "needs --tls-cert and --tls-key");
  }
  for (const ListenAddress& address : addresses) {
    if (address.is_unix() || wire::IsLoopback(address.host) || options.insecure) continue;
    return plan::InvalidField(
        "--listen",
        absl::StrCat(address.target(),
                     " is open to the network without encryption; give --tls-cert and --tls-key, "
                     "or --insecure where everybody who reaches it is trusted"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const AccessOptions& options, const std::vector<ListenAddress>& addresses) {
  GDNPLAN_RETURN_IF_ERROR(CheckAccess(options, addresses));
  if (options.tls_cert.empty()) return grpc::InsecureServerCredentials();
  const wire::TlsFiles files{.certificate = options.tls_cert,
                             .key = options.tls_key,
                             .authority = options.tls_client_ca,
                             .certificate_name = "--tls-cert",
                             .key_name = "--tls-key",
                             .authority_name = "--tls-client-ca"};
  GDNPLAN_RETURN_IF_ERROR(wire::Check(files));
  grpc::experimental::TlsServerCredentialsOptions tls(wire::Watch(files));
  tls.watch_identity_key_cert_pairs();
  if (!files.authority.empty()) {
    tls.watch_root_certs();
    tls.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(tls);
}

}  // namespace gdnplan::server
