// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "settings/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace gdnplan::settings {

void PrepareProcess() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace gdnplan::settings
