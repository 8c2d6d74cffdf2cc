// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/process_usage.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace gdnplan::test {

ProcessUsage UsageOf(pid_t pid) {
  const std::string root = "/proc/" + std::to_string(pid);
  ProcessUsage usage;
  std::ifstream status(root + "/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long number = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %llu kB", &number) == 1) {
      usage.resident_bytes = number * 1024;
    } else if (std::sscanf(line.c_str(), "Threads: %llu", &number) == 1) {
      usage.threads = static_cast<int>(number);
    }
  }
  std::error_code gone;
  const std::filesystem::directory_iterator descriptors(root + "/fd", gone);
  if (!gone) usage.descriptors = static_cast<int>(std::distance(begin(descriptors), {}));
  return usage;
}

std::string ToString(const ProcessUsage& usage) {
  char text[96];
  std::snprintf(text, sizeof(text), "%.1f MiB, %d descriptors, %d threads",
                static_cast<double>(usage.resident_bytes) / (1 << 20), usage.descriptors,
                usage.threads);
  return text;
}

std::vector<std::string> SharedMemoryObjects(const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace gdnplan::test
