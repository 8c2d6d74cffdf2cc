// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/credentials.h"

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "wire/loopback.h"
#include "wire/tls_files.h"

namespace gdnplan::client {
namespace {

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Tls(const TlsOptions& options) {
  const wire::TlsFiles files{.certificate = options.cert_file,
                             .key = options.key_file,
                             .authority = options.ca_file,
                             .certificate_name = "tls.cert_file",
                             .key_name = "tls.key_file",
                             .authority_name = "tls.ca_file"};
  GDNPLAN_RETURN_IF_ERROR(wire::Check(files));
  grpc::experimental::TlsChannelCredentialsOptions tls;
  tls.set_certificate_provider(wire::Watch(files));
  tls.watch_root_certs();
  if (!files.certificate.empty()) tls.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(tls);
}

}  // namespace

absl::StatusOr<Credentials> MakeCredentials(const std::string& address,
                                            const ClientOptions& options) {
  Credentials credentials;
  const TlsOptions& tls = options.tls;
  if (tls.ca_file.empty() &&
      !(tls.cert_file.empty() && tls.key_file.empty() && tls.server_name.empty())) {
    return plan::InvalidField("tls.ca_file", "without it there is no TLS; give it, too");
  }
  const bool secure = !tls.ca_file.empty() && !wire::IsUnixSocket(address);
  if (secure) {
    GDNPLAN_ASSIGN_OR_RETURN(credentials.channel, Tls(tls));
    credentials.server_name = tls.server_name;
  } else {
    credentials.channel = grpc::InsecureChannelCredentials();
  }
  if (options.token_file.empty()) return credentials;
  if (!secure && !wire::StaysOnThisMachine(address)) {
    return absl::FailedPreconditionError(
        absl::StrCat("token_file: the token would go to ", address,
                     " unencrypted, for everybody on the way to read; use TLS (tls.ca_file)"));
  }
  GDNPLAN_ASSIGN_OR_RETURN(credentials.token, CallToken::Open(options.token_file));
  return credentials;
}

}  // namespace gdnplan::client
