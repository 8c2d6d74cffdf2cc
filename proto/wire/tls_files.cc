// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::wire {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;

// A server has nobody to ask for a passphrase.
int NoPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

absl::StatusOr<Bio> Open(const char* name, const std::string& path) {
  Bio bio(BIO_new_file(path.c_str(), "r"));
  const int error = errno;
  ERR_clear_error();
  if (bio == nullptr) return absl::ErrnoToStatus(error, absl::StrCat(name, ": cannot read ", path));
  return bio;
}

absl::StatusOr<Certificate> ReadCertificate(const char* name, const std::string& path) {
  GDNPLAN_ASSIGN_OR_RETURN(const Bio bio, Open(name, path));
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (certificate == nullptr) {
    return plan::InvalidField(name, absl::StrCat(path, " holds no certificate in PEM"));
  }
  return certificate;
}

absl::StatusOr<Key> ReadKey(const char* name, const std::string& path) {
  GDNPLAN_ASSIGN_OR_RETURN(const Bio bio, Open(name, path));
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return plan::InvalidField(
        name, absl::StrCat(path, " holds no private key in PEM, or one with a passphrase"));
  }
  return key;
}

}  // namespace

absl::Status Check(const TlsFiles& files) {
  if (files.certificate.empty() != files.key.empty()) {
    const bool no_key = files.key.empty();
    return plan::InvalidField(
        no_key ? files.certificate_name : files.key_name,
        absl::StrCat("needs ", no_key ? files.key_name : files.certificate_name, ", too"));
  }
  if (!files.certificate.empty()) {
    GDNPLAN_ASSIGN_OR_RETURN(const Certificate certificate,
                             ReadCertificate(files.certificate_name, files.certificate));
    GDNPLAN_ASSIGN_OR_RETURN(const Key key, ReadKey(files.key_name, files.key));
    const bool match = X509_check_private_key(certificate.get(), key.get()) == 1;
    ERR_clear_error();
    if (!match) {
      return plan::InvalidField(
          files.key_name, absl::StrCat("the key in ", files.key,
                                       " is not that of the certificate in ", files.certificate));
    }
  }
  if (files.authority.empty()) return absl::OkStatus();
  return ReadCertificate(files.authority_name, files.authority).status();
}

std::shared_ptr<grpc::experimental::CertificateProviderInterface> Watch(const TlsFiles& files) {
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      files.key, files.certificate, files.authority, kTlsRefreshSeconds);
}

}  // namespace gdnplan::wire
