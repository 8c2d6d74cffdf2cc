// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "server/metrics/families.h"

namespace gdnplan::server {
namespace {

// Of proc(5): those of /proc/self/stat that are shown. Fields count from 1.
struct Stat {
  double cpu_s = 0;           // utime + stime, 14 and 15
  double num_threads = 0;     // 20
  double start_s = 0;         // 22: after the machine's boot
  double resident_bytes = 0;  // 24
};

std::optional<Stat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The name, 2, has any character in it.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  Stat stat;
  std::string word;
  for (int field = 3; field <= 24 && fields >> word; ++field) {
    if (field == 14 || field == 15) stat.cpu_s += std::stod(word) / tick;
    if (field == 20) stat.num_threads = std::stod(word);
    if (field == 22) stat.start_s = std::stod(word) / tick;
    if (field == 24) stat.resident_bytes = std::stod(word) * static_cast<double>(getpagesize());
  }
  return fields ? std::optional(stat) : std::nullopt;
}

// When the machine booted, in seconds of the Unix epoch.
std::optional<double> ReadBootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> CountDescriptors() {
  std::error_code error;
  double count = 0;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    ++count;
  }
  return error ? std::nullopt : std::optional(count);
}

}  // namespace

void AppendProcessMetrics(std::vector<prometheus::MetricFamily>& families) {
  const auto gauge = [&](const char* name, const char* help, double value) {
    AddGauge(families.emplace_back(GaugeFamily(name, help)), value);
  };
  if (const std::optional<Stat> stat = ReadStat(); stat.has_value()) {
    AddCounter(families.emplace_back(CounterFamily("process_cpu_seconds_total",
                                                   "User and system time of the process.")),
               stat->cpu_s);
    gauge("process_threads", "Threads of the process.", stat->num_threads);
    gauge("process_resident_memory_bytes", "Resident memory of the process.", stat->resident_bytes);
    if (const std::optional<double> boot = ReadBootTime(); boot.has_value()) {
      gauge("process_start_time_seconds", "When the process started, in seconds of the Unix epoch.",
            *boot + stat->start_s);
    }
  }
  if (const std::optional<double> count = CountDescriptors(); count.has_value()) {
    gauge("process_open_fds", "Descriptors that are open.", *count);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    gauge("process_max_fds", "Descriptors that may be open.", static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace gdnplan::server
