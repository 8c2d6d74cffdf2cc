// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The fault run: what it is told, and the processes that it is made of.
#pragma once

#include <cstdint>
#include <string>

namespace gdnplan::test {

enum class Role : uint8_t {
  kController,  // starts, kills and stops the others
  kOwner,       // a scheduler: opens sessions, plans, checks
  kWorker,      // follows an owner's session, and checks
};

struct FaultOptions {
  int seconds = 30;
  uint64_t seed = 0;  // 0: by chance
  bool soak = false;  // nothing is killed or stopped
  std::string device = "auto";
  std::string server_program;
  std::string tool_program;
  std::string golden;  // a folder
  int owners = 3;      // each with a worker

  // Of owners and workers.
  Role role = Role::kController;
  int number = 0;
  std::string directory;  // of the run: the server's socket, the board

  std::string address() const { return "unix:" + directory + "/gdnplan.sock"; }
};

// Each returns the process's exit status.
int RunController(const FaultOptions& options);
// Until they are killed.
int RunOwner(const FaultOptions& options);
int RunWorker(const FaultOptions& options);

}  // namespace gdnplan::test
