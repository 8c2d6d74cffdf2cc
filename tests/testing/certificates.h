// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Certificates made while a test runs.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace gdnplan::test {

// In PEM.
struct Identity {
  std::string certificate;
  std::string key;
};

// Issues certificates, valid for a day.
class Authority {
 public:
  explicit Authority(const std::string& name);

  const std::string& certificate() const { return certificate_pem_; }
  // names: "DNS:localhost,IP:127.0.0.1".
  Identity Issue(const std::string& names) const;

 private:
  struct Free {
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  using Certificate = std::unique_ptr<X509, Free>;
  using Key = std::unique_ptr<EVP_PKEY, Free>;

  static Certificate Make(const std::string& name, EVP_PKEY* key);

  Key key_;
  Certificate certificate_;
  std::string certificate_pem_;
};

}  // namespace gdnplan::test
