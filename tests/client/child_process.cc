// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/client/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

extern char** environ;

namespace gdnplan::test {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  return content;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& input) {
  const std::string stdin_path = directory_.Write("stdin", input);
  const std::string stdout_path = directory_.path() + "/stdout";
  const std::string stderr_path = directory_.path() + "/stderr";
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, stdin_path.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, stdout_path.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, stderr_path.c_str(), kWrite, 0600);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  if (posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
    pid_ = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
}

ChildProcess::~ChildProcess() {
  Signal(SIGKILL);
  Wait();
}

int ChildProcess::Wait() {
  int raw = 0;
  if (pid_ > 0 && waitpid(pid_, &raw, 0) == pid_) {
    status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    pid_ = -1;
  }
  return status_;
}

void ChildProcess::Signal(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

std::string ChildProcess::output() const { return ReadFile(directory_.path() + "/stdout"); }
std::string ChildProcess::errors() const { return ReadFile(directory_.path() + "/stderr"); }

ProgramResult RunProgram(const std::vector<std::string>& command, const std::string& input) {
  ChildProcess process(command, input);
  const int status = process.Wait();
  return {status, process.output(), process.errors()};
}

LiveServer::LiveServer(const std::string& device, const std::vector<std::string>& flags,
                       const std::vector<std::string>& environment)
    : unix_address_("unix:" + directory_.path() + "/gdnplan.sock"),
      command_({GDNPLAN_SERVER_PATH, "--listen=" + unix_address_, "--listen=127.0.0.1:0",
                "--device=" + device,
                // Its log goes to a pipe that nobody reads.
                "--log-level=warn"}),
      environment_(environment) {
  command_.insert(command_.end(), flags.begin(), flags.end());
  Start();
}

void LiveServer::Start() {
  process_.emplace(command_, environment_);
  const std::string line = process_->ReadLine();
  if (const size_t at = line.find("127.0.0.1:"); at != std::string::npos) {
    tcp_address_ = line.substr(at, line.find_first_not_of("0123456789.:", at) - at);
  }
}

void LiveServer::Restart() {
  process_->Signal(SIGKILL);
  process_->Wait();
  Start();
}

}  // namespace gdnplan::test
