// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// gdnplan health
#include <iostream>

#include "client/tool/command.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::tool {
namespace {

constexpr char kHealthFooter[] =
    "Prints SERVING and exits with 0 when it serves, else with 1 and the reason. Needs no token. "
    "For probes, and with a long --connect-timeout for waiting until a server is there.";

absl::StatusOr<int> Run(const Connection& connection) {
  GDNPLAN_RETURN_IF_ERROR(connection.CheckHealth());
  std::cout << "SERVING\n";
  return kSuccess;
}

}  // namespace

void AddHealthCommand(CLI::App& app, const Connection& connection, Action& action) {
  CLI::App* command = app.add_subcommand("health", "Asks whether the server serves");
  command->footer(kHealthFooter);
  command->callback([&connection, &action] { action = [&connection] { return Run(connection); }; });
}

}  // namespace gdnplan::tool
