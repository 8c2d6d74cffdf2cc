// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/unix_socket_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("listen: ", plan::ToAbsl(what), " ", path));
}

absl::Status PrepareDirectory(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
    return Failed("cannot make the directory", directory);
  }
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) return Failed("cannot look at", directory);
  // Its owner could put a socket of their own in our place.
  const uid_t self = geteuid();
  if (self != 0 && info.st_uid != self && info.st_uid != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("listen: the directory ", directory, " belongs to user ", info.st_uid,
                     ", not to this server's ", self, "; choose another"));
  }
  return absl::OkStatus();
}

std::string ReadOwner(int fd) {
  char text[16] = {};
  const ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
  if (got <= 0) return "unknown";
  return std::string(absl::StripAsciiWhitespace({text, static_cast<size_t>(got)}));
}

void WriteOwner(int fd) {
  const std::string text = absl::StrCat(getpid(), "\n");
  // For people only: nothing depends on it.
  if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, text.data(), text.size(), 0);
}

// The file's lock, held. The last owner removes the file, perhaps after we opened it: then the
// lock is on a file that nobody else will find, and there is a next try.
absl::StatusOr<int> Lock(const std::string& path) {
  while (true) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return Failed("cannot open the lock file", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const bool held = errno == EWOULDBLOCK;
      absl::Status status = Failed("cannot lock", path);
      if (held) {
        status = absl::FailedPreconditionError(absl::StrCat("listen: another server, process ",
                                                            ReadOwner(fd), ", holds ", path,
                                                            "; stop it or choose another address"));
      }
      close(fd);
      return status;
    }
    struct stat ours {};
    struct stat there {};
    if (fstat(fd, &ours) == 0 && stat(path.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
        ours.st_ino == there.st_ino) {
      WriteOwner(fd);
      return fd;
    }
    close(fd);
  }
}

// Whether somebody, who then does not know of our lock, accepts connections.
bool IsLive(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const bool live =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN;
  close(fd);
  return live;
}

absl::Status RemoveStale(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Failed("cannot look at", path);
  }
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("listen: ", path, " exists and is not a socket; choose another address"));
  }
  if (IsLive(path)) {
    return absl::FailedPreconditionError(absl::StrCat("listen: some other program listens on ",
                                                      path, "; stop it or choose another address"));
  }
  return unlink(path.c_str()) == 0 ? absl::OkStatus() : Failed("cannot remove", path);
}

}  // namespace

absl::StatusOr<UnixSocketClaim> UnixSocketClaim::Take(const std::string& path) {
  GDNPLAN_RETURN_IF_ERROR(PrepareDirectory(path));
  GDNPLAN_ASSIGN_OR_RETURN(const int fd, Lock(LockPath(path)));
  if (const absl::Status removed = RemoveStale(path); !removed.ok()) {
    unlink(LockPath(path).c_str());
    close(fd);
    return removed;
  }
  return UnixSocketClaim(path, fd);
}

UnixSocketClaim::UnixSocketClaim(UnixSocketClaim&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_fd_(std::exchange(other.lock_fd_, -1)) {}

UnixSocketClaim& UnixSocketClaim::operator=(UnixSocketClaim&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_fd_, other.lock_fd_);
  return *this;
}

UnixSocketClaim::~UnixSocketClaim() {
  if (lock_fd_ < 0) return;
  unlink(path_.c_str());
  unlink(LockPath(path_).c_str());
  close(lock_fd_);
}

}  // namespace gdnplan::server
