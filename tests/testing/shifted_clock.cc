// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/shifted_clock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace gdnplan::test {

ShiftedClock::ShiftedClock() {
  path_ = (std::filesystem::temp_directory_path() / "gdnplan-clock-XXXXXX").string();
  const int fd = mkstemp(path_.data());
  EXPECT_EQ(ftruncate(fd, sizeof(*shift_s_)), 0);
  void* memory = mmap(nullptr, sizeof(*shift_s_), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  EXPECT_NE(memory, MAP_FAILED);
  shift_s_ = static_cast<std::atomic<int64_t>*>(memory);
}

ShiftedClock::~ShiftedClock() {
  munmap(shift_s_, sizeof(*shift_s_));
  std::filesystem::remove(path_);
}

std::vector<std::string> ShiftedClock::environment() const {
  return {"LD_PRELOAD=" GDNPLAN_CLOCK_SHIFTER_PATH, "GDNPLAN_CLOCK_SHIFT_FILE=" + path_};
}

}  // namespace gdnplan::test
