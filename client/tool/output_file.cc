// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/tool/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace gdnplan::tool {
namespace {

constexpr mode_t kMode = 0666;  // less the process' mask

bool IsOneFile(const struct stat& a, const struct stat& b) {
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Open(std::string flag, std::string path) {
  bool is_new = true;
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (fd < 0 && errno == EEXIST) {
    is_new = false;
    fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  }
  const int error = errno;
  OutputFile file(std::move(flag), std::move(path), fd, is_new);
  if (fd < 0) return file.Error(error);
  file.UseStream();
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : flag_(std::move(other.flag_)),
      path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      is_new_(other.is_new_),
      is_stream_(other.is_stream_) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  if (is_new_) unlink(path_.c_str());
  close(fd_);
}

absl::Status OutputFile::Write(const std::string& text) {
  is_new_ = false;
  // Pipes and terminals have no length.
  if (!is_stream_ && ftruncate(fd_, 0) != 0 && errno != EINVAL) return Error(errno);
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Error(errno);
    done += static_cast<size_t>(wrote);
  }
  return absl::OkStatus();
}

bool OutputFile::IsSameAs(const OutputFile& other) const {
  struct stat a {};
  struct stat b {};
  return !(is_stream_ && other.is_stream_) && fstat(fd_, &a) == 0 && fstat(other.fd_, &b) == 0 &&
         IsOneFile(a, b);
}

bool OutputFile::Is(const std::string& path) const {
  struct stat a {};
  struct stat b {};
  return fstat(fd_, &a) == 0 && stat(path.c_str(), &b) == 0 && IsOneFile(a, b);
}

void OutputFile::UseStream() {
  struct stat own {};
  if (fstat(fd_, &own) != 0) return;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat its {};
    if (fstat(stream, &its) != 0 || !IsOneFile(own, its)) continue;
    const int fd = fcntl(stream, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) continue;
    close(std::exchange(fd_, fd));
    is_stream_ = true;
    return;
  }
}

absl::Status OutputFile::Error(int error) const {
  return absl::ErrnoToStatus(error, absl::StrCat(flag_, ": cannot write ", path_));
}

}  // namespace gdnplan::tool
