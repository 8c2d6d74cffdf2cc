// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A file that a command writes when it is done.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::tool {

// Opened before the work, so that what cannot be written is known then. Its old content stays until
// Write; a file that was not there before goes again without it. One that standard output or error
// goes to, such as /dev/stdout, is written through that stream, behind what is there.
class OutputFile {
 public:
  // Errors name `flag`, the file and the reason.
  static absl::StatusOr<OutputFile> Open(std::string flag, std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // In the place of what was there. Whatever the process keeps for a standard stream is to be
  // flushed before.
  absl::Status Write(const std::string& text);
  // Whether both are one regular file, under whatever names, and one would replace the other.
  bool IsSameAs(const OutputFile& other) const;
  // Whether it is that regular file, under whatever name.
  bool Is(const std::string& path) const;
  const std::string& flag() const { return flag_; }

 private:
  OutputFile(std::string flag, std::string path, int fd, bool is_new)
      : flag_(std::move(flag)), path_(std::move(path)), fd_(fd), is_new_(is_new) {}
  // Writes through a standard stream, if that is this file.
  void UseStream();
  absl::Status Error(int error) const;

  std::string flag_;
  std::string path_;
  int fd_;  // -1: moved from
  bool is_new_;
  bool is_stream_ = false;
};

}  // namespace gdnplan::tool
