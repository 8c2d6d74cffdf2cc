// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A program under test as a child process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace gdnplan::test {

// Standard output and error go to pipes. The destructor kills it, and the kernel does when the test
// dies. Not thread safe; start it from the thread that will live longest.
class Process {
 public:
  // `environment` is added to the test's own, as NAME=VALUE.
  explicit Process(const std::vector<std::string>& command,
                   const std::vector<std::string>& environment = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }

  // The next line of standard output without its end; empty at the output's end or after the
  // timeout.
  std::string ReadLine(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  void Signal(int signal) const;
  // Its exit status, or 128 + the signal that ended it, as shells count; -1: it still ran after the
  // timeout.
  int Wait(std::chrono::milliseconds timeout = std::chrono::seconds(30));

  // After Wait: what else it wrote.
  std::string RestOfOutput();
  std::string ErrorOutput();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool running_ = false;
  int status_ = -1;
  std::string buffer_;  // read from out_, not handed out yet
};

}  // namespace gdnplan::test
