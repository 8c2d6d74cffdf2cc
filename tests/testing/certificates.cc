// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <functional>

namespace gdnplan::test {
namespace {

constexpr long kDay = 24 * 60 * 60;

std::string Pem(const std::function<void(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  write(bio);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string Pem(X509* certificate) {
  return Pem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

void Extend(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Authority::Certificate Authority::Make(const std::string& name, EVP_PKEY* key) {
  static std::atomic<long> serial = 1;
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDay);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

Authority::Authority(const std::string& name)
    : key_(EVP_EC_gen("P-256")), certificate_(Make(name, key_.get())) {
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  Extend(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  Extend(certificate_.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  certificate_pem_ = Pem(certificate_.get());
}

Identity Authority::Issue(const std::string& names) const {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = Make("gdnplan test", key.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  Extend(certificate.get(), NID_subject_alt_name, names);
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return {.certificate = Pem(certificate.get()),
          .key = Pem([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace gdnplan::test
