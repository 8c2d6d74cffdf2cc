// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "client/tool/command.h"
#include "client/tool/text.h"
#include "client/tool/usage.h"
#include "settings/process.h"
#include "settings/settings.h"
#include "wire/flag_range.h"
#include "wire/start_thread.h"

namespace gdnplan::tool {
namespace {

constexpr char kFooter[] =
    "Exit status: 0 success, 1 failure or mismatch, 2 wrong usage (load has more: gdnplan load "
    "--help). Errors are one line on stderr.";

int Fail(int status, const std::string& message) {
  std::cout.flush();
  std::cerr << "gdnplan: " << OneLine(message) << '\n';
  return status;
}

void AddConnectionOptions(CLI::App& app, Connection& connection) {
  app.add_option("--server", connection.server,
                 "The server's address as gRPC spells it: unix:/path or host:port")
      ->envname("GDNPLAN_SERVER")
      ->default_str(Connection().address())
      ->type_name("ADDR");
  app.add_option("--connect-timeout", connection.connect_timeout_s,
                 "How long to try while nobody listens")
      ->envname("GDNPLAN_CONNECT_TIMEOUT")
      ->check(wire::InRange(0.0, 3'600.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--timeout", connection.timeout_s, "Deadline of each call")
      ->envname("GDNPLAN_TIMEOUT")
      ->check(wire::InRange(0.001, 3'600.0))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void AddAccessOptions(CLI::App& app, Connection& connection) {
  const auto add = [&app](const char* flag, std::string& value, const char* variable,
                          const char* what) {
    return app.add_option(flag, value, what)->envname(variable)->type_name("FILE");
  };
  // Not the server's variables: those are for its own certificate.
  CLI::Option* ca = add("--tls-ca", connection.tls.ca_file, "GDNPLAN_TLS_CA",
                        "TLS on TCP: what issues servers' certificates, in PEM");
  CLI::Option* cert = add("--tls-cert", connection.tls.cert_file, "GDNPLAN_CLIENT_TLS_CERT",
                          "This client's certificate, in PEM, where the server asks for one");
  CLI::Option* key =
      add("--tls-key", connection.tls.key_file, "GDNPLAN_CLIENT_TLS_KEY", "The certificate's key");
  cert->needs(ca)->needs(key);
  key->needs(cert);
  add("--tls-server-name", connection.tls.server_name, "GDNPLAN_TLS_SERVER_NAME",
      "Name that the server's certificate must have, instead of the address's host")
      ->type_name("NAME")
      ->needs(ca);
  add("--token-file", connection.token_file, "GDNPLAN_TOKEN_FILE",
      "Its first line is the bearer token, where the server asks for one");
}

int Main(int argc, const char* const* argv) {
  CLI::App app("Asks a gdnplan server for Gated DeltaNet plans, and checks them.", "gdnplan");
  app.footer(kFooter);
  app.set_version_flag("--version", "gdnplan " GDNPLAN_VERSION);
  // Not required here: a misspelt one is better named than missed.
  app.require_subcommand(0, 1);
  // So that --server may also follow the subcommand.
  app.fallthrough();
  Connection connection;
  Action action;
  AddConnectionOptions(app, connection);
  AddAccessOptions(app, connection);
  AddHealthCommand(app, connection, action);
  AddInfoCommand(app, connection, action);
  AddLoadCommand(app, connection, action);
  AddPlanCommand(app, connection, action);
  AddVerifyCommand(app, connection, action);
  settings::Settings settings(app, "GDNPLAN_CLIENT_CONFIG");
  const absl::StatusOr<settings::Settings::Next> next = settings.Parse(argc, argv);
  if (!next.ok()) {
    const std::string error(next.status().message());
    return absl::IsInvalidArgument(next.status()) ? Fail(kUsage, WithHelp(error, app))
                                                  : Fail(kFailure, error);
  }
  if (*next == settings::Settings::Next::kExit) return kSuccess;
  if (!action) {
    return Fail(kUsage, WithHelp("health, info, load, plan or verify must be given", app));
  }
  const absl::StatusOr<int> result = action();
  if (!result.ok()) {
    const std::string error(result.status().message());
    return IsWrongUsage(result.status()) ? Fail(kUsage, WithHelp(error, app))
                                         : Fail(kFailure, error);
  }
  std::cout.flush();
  return std::cout.good() ? *result : Fail(kFailure, "cannot write to stdout");
}

}  // namespace
}  // namespace gdnplan::tool

int main(int argc, char** argv) {
  gdnplan::settings::PrepareProcess();
  // gRPC's own lines come between ours and say less. Whoever wants them sets the variable.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  try {
    return gdnplan::tool::Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory, and what libraries throw unasked
    return gdnplan::tool::Fail(gdnplan::tool::kFailure, gdnplan::wire::Explain(error));
  }
}
