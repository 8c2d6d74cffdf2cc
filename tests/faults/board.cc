// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>

namespace gdnplan::test {
namespace {

std::string SessionFile(const std::string& directory, int owner) {
  return directory + "/session." + std::to_string(owner);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

absl::StatusOr<Board*> MapBoard(const std::string& directory) {
  const int fd = open((directory + "/board").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, "board");
  // A new file holds zeros, which is what an empty board is.
  const bool sized = ftruncate(fd, sizeof(Board)) == 0;
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (!sized || memory == MAP_FAILED) return absl::ErrnoToStatus(error, "board");
  return std::launder(static_cast<Board*>(memory));
}

uint64_t KeyOf(const std::string& session_id) { return std::hash<std::string>()(session_id); }

void PublishSession(const std::string& directory, int owner, const std::string& session_id) {
  const std::string path = SessionFile(directory, owner);
  std::ofstream(path + ".new", std::ios::binary) << session_id;
  std::error_code ignored;
  std::filesystem::rename(path + ".new", path, ignored);
}

std::string PublishedSession(const std::string& directory, int owner) {
  return ReadText(SessionFile(directory, owner));
}

void NoteWrong(const std::string& directory, Board& board, const std::string& text) {
  ++board.wrong;
  std::ofstream(directory + "/wrong", std::ios::app) << text << '\n';
}

std::string WrongPlans(const std::string& directory) { return ReadText(directory + "/wrong"); }

}  // namespace gdnplan::test
