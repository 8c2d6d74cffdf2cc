// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Kills and stops schedulers, workers and the server at random for a while, and checks meanwhile
// that no plan is wrong, and in between that nothing is left of the dead and the server is as it
// was. Exit status 1: it was not so.
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "tests/faults/board.h"
#include "tests/faults/options.h"

namespace gdnplan::test {
namespace {

const std::map<std::string, Role> kRoles = {
    {"controller", Role::kController}, {"owner", Role::kOwner}, {"worker", Role::kWorker}};

// A bundle has the programs side by side, and the golden batches in share/.
void FindPrograms(FaultOptions& options) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.server_program = (here / "gdnplan-server").string();
  options.tool_program = (here / "gdnplan").string();
  options.golden = (here.parent_path() / "share" / "golden").string();
}

void Describe(CLI::App& app, FaultOptions& options) {
  app.option_defaults()->always_capture_default()->multi_option_policy(
      CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--seconds", options.seconds, "How long")->check(CLI::Range(1, 86'400));
  app.add_option("--seed", options.seed, "Of everything that is random. 0: by chance");
  app.add_flag("--soak,!--no-soak", options.soak,
               "Nothing is killed: a steady load, sessions opened and dropped; the server must not "
               "grow");
  app.add_option("--device", options.device, "The server's --device");
  app.add_option("--owners", options.owners, "Schedulers, each with a worker")
      ->check(CLI::Range(1, Board::kMaxOwners));
  app.add_option("--server-program", options.server_program, "gdnplan-server");
  app.add_option("--tool-program", options.tool_program, "gdnplan");
  app.add_option("--golden", options.golden, "The folder of golden batches");
  app.add_option("--role", options.role, "")->transform(CLI::CheckedTransformer(kRoles))->group("");
  app.add_option("--number", options.number, "")->group("");
  app.add_option("--directory", options.directory, "")->group("");
}

int RunInDirectoryOfItsOwn(FaultOptions& options) {
  if (options.seed == 0) options.seed = std::random_device()() | 1u;
  std::string name = (std::filesystem::temp_directory_path() / "gdnplan-faults-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  options.directory = name;
  const int status = RunController(options);
  std::error_code ignored;
  std::filesystem::remove_all(name, ignored);
  return status;
}

int Main(int argc, char** argv) {
  CLI::App app("Kills and stops clients, workers and the server, and looks what becomes of it.");
  FaultOptions options;
  FindPrograms(options);
  Describe(app, options);
  CLI11_PARSE(app, argc, argv);
  switch (options.role) {
    case Role::kOwner:
      return RunOwner(options);
    case Role::kWorker:
      return RunWorker(options);
    case Role::kController:
      break;
  }
  return RunInDirectoryOfItsOwn(options);
}

}  // namespace
}  // namespace gdnplan::test

int main(int argc, char** argv) { return gdnplan::test::Main(argc, argv); }
