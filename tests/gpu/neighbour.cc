// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A process that keeps a GPU full, for what has to be measured beside one.
//   gdnplan-neighbour [--device=ORDINAL] [--seconds=N]
// Prints "busy" once the GPU is full. Ends after N seconds, or with SIGTERM or SIGINT.
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/gpu/busy_load.h"

namespace {

volatile std::sig_atomic_t signalled = 0;
void OnSignal(int) { signalled = 1; }

// The number after --name=; leaves `value` alone for another argument.
bool Parse(const char* argument, const char* name, int& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  char* end = nullptr;
  const long number = std::strtol(argument + length, &end, 10);
  if (end == argument + length || *end != '\0' || number < 0 || number > INT_MAX) return false;
  value = static_cast<int>(number);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int device = 0;
  int seconds = INT_MAX;
  for (int i = 1; i < argc; ++i) {
    if (Parse(argv[i], "--device=", device) || Parse(argv[i], "--seconds=", seconds)) continue;
    std::fprintf(stderr, "usage: gdnplan-neighbour [--device=ORDINAL] [--seconds=N]\n");
    return 2;
  }
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGINT, OnSignal);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  gdnplan::test::RunBusyLoad(
      device, [end] { return signalled != 0 || std::chrono::steady_clock::now() > end; },
      [] {
        std::puts("busy");
        std::fflush(stdout);
      });
  return 0;
}
