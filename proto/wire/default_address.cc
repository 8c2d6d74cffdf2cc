// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "wire/default_address.h"

#include <unistd.h>

#include <cstdlib>

namespace gdnplan::wire {

std::string DefaultAddress() {
  std::string directory;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    directory = std::string(runtime) + "/gdnplan";
  } else if (geteuid() == 0) {
    directory = "/run/gdnplan";
  } else {
    directory = "/tmp/gdnplan-" + std::to_string(geteuid());
  }
  return "unix:" + directory + "/gdnplan.sock";
}

std::string ServerAddress() {
  const char* given = std::getenv("GDNPLAN_SERVER");
  return given != nullptr && *given != '\0' ? given : DefaultAddress();
}

}  // namespace gdnplan::wire
