// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/access_flags.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "wire/flag_range.h"

namespace gdnplan::server {

void DescribeAccess(CLI::App& app, AccessOptions& options) {
  app.add_option("--allow-uid", options.allowed_users,
                 "Users that may connect to Unix sockets, beside root and the server's own. "
                 "Default: whoever may write to the socket")
      ->envname("GDNPLAN_ALLOW_UID")
      ->delimiter(',')
      // The last one means nobody.
      ->check(wire::InRange(uid_t{0}, std::numeric_limits<uid_t>::max() - 1).description(""))
      ->type_name("UID");
  CLI::Option* cert = app.add_option("--tls-cert", options.tls_cert,
                                     "TLS on TCP: the server's certificate, and those that issued "
                                     "it, in PEM. Read again when it changes, as all these files")
                          ->envname("GDNPLAN_TLS_CERT")
                          ->type_name("FILE");
  app.add_option("--tls-key", options.tls_key, "The certificate's key, in PEM")
      ->envname("GDNPLAN_TLS_KEY")
      ->type_name("FILE");
  app.add_option("--tls-client-ca", options.tls_client_ca,
                 "Mutual TLS: clients need a certificate that one of these issued, in PEM")
      ->envname("GDNPLAN_TLS_CLIENT_CA")
      ->type_name("FILE");
  app.add_flag("--insecure", options.insecure,
               "TCP beyond loopback without TLS, for networks where everybody is trusted")
      ->envname("GDNPLAN_INSECURE")
      ->excludes(cert);
  app.add_option("--token-file", options.token_file,
                 "Calls, but those of health, need one of these bearer tokens, one a line. The "
                 "file must not be readable by everybody")
      ->envname("GDNPLAN_TOKEN_FILE")
      ->type_name("FILE");
}

}  // namespace gdnplan::server
