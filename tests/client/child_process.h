// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The real programs, as a user starts them: with input, and with any amount of output.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/testing/process.h"
#include "tests/testing/temporary_directory.h"

namespace gdnplan::test {

// A running program. Its streams are files; the destructor kills it.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command, const std::string& input = "");
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // The exit status; 128 + N when signal N ended it.
  int Wait();
  void Signal(int signal) const;
  std::string output() const;
  std::string errors() const;

 private:
  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int status_ = -1;
};

struct ProgramResult {
  int status = -1;
  std::string output;
  std::string errors;
};
ProgramResult RunProgram(const std::vector<std::string>& command, const std::string& input = "");

// gdnplan-server on a Unix socket and a free TCP port.
class LiveServer {
 public:
  // `environment` as of Process.
  explicit LiveServer(const std::string& device = "host",
                      const std::vector<std::string>& flags = {},
                      const std::vector<std::string>& environment = {});

  // Kills it and starts another one with the same flags and address.
  void Restart();

  const std::string& unix_address() const { return unix_address_; }
  // Empty when it did not start.
  const std::string& tcp_address() const { return tcp_address_; }
  Process& process() { return *process_; }

 private:
  TemporaryDirectory directory_;
  void Start();

  std::string unix_address_;
  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  std::optional<Process> process_;
  std::string tcp_address_;
};

}  // namespace gdnplan::test
