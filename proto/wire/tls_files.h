// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Certificates and keys in files. gRPC says of those that it cannot use only that a handshake
// failed.
#pragma once

#include <grpcpp/security/tls_certificate_provider.h>

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace gdnplan::wire {

// Paths; empty: not given. `certificate` and `key` come together.
struct TlsFiles {
  std::string certificate;  // and those that issued it, up to the authority's
  std::string key;
  std::string authority;  // what certificates of the other side are checked against
  // What errors call them: the options that the paths come from.
  const char* certificate_name = "certificate";
  const char* key_name = "key";
  const char* authority_name = "authority";
};

// How soon changed files are noticed.
inline constexpr unsigned int kTlsRefreshSeconds = 1;

// NotFound, PermissionDenied or InvalidArgument with the file and its name: it cannot be read,
// holds no certificate or key, or the key is not the certificate's.
absl::Status Check(const TlsFiles& files);

// Reads them again and again, with a thread of its own. They must have passed the check.
std::shared_ptr<grpc::experimental::CertificateProviderInterface> Watch(const TlsFiles& files);

}  // namespace gdnplan::wire
