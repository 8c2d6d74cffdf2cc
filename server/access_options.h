// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Who may connect to a server and call it. docs/security.md says what each is for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gdnplan::server {

struct AccessOptions {
  // Of Unix sockets, beside root and the server's own user. Empty: whoever the modes let in.
  std::vector<uid_t> allowed_users;
  // Files in PEM. With a certificate, TCP speaks TLS; with a client CA, clients need one of its
  // certificates. Read again when they change.
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  // TCP beyond loopback without TLS.
  bool insecure = false;
  // Empty: calls need no token. As wire::ReadTokens takes it; read again when it changes.
  std::string token_file;
};

}  // namespace gdnplan::server
