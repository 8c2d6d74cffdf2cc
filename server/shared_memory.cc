// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/shared_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

constexpr char kDirectory[] = "/dev/shm";

absl::Status Failed(int error, std::string_view call, const std::string& name) {
  return absl::ErrnoToStatus(error, absl::StrCat("shared memory: ", plan::ToAbsl(call), " ", name));
}

absl::Status DoesNotFit(size_t bytes, uint64_t available) {
  return absl::ResourceExhaustedError(
      absl::StrCat("shared memory: ", bytes, " bytes asked, ", available, " available in ",
                   kDirectory, "; close sessions, ask for smaller limits or make it larger"));
}

// Far longer than the two system calls take that make an object one of its owner's.
bool IsOld(const char* file) {
  using FileClock = std::filesystem::file_time_type::clock;
  constexpr std::chrono::seconds kOld{60};
  std::error_code gone;
  const auto written = std::filesystem::last_write_time(std::string(kDirectory) + "/" + file, gone);
  return !gone && FileClock::now() - written > kOld;
}

}  // namespace

SharedMemorySpace GetSharedMemorySpace() {
  struct statvfs info {};
  if (statvfs(kDirectory, &info) != 0) return {};
  return {.total = info.f_blocks * info.f_frsize, .available = info.f_bavail * info.f_frsize};
}

absl::StatusOr<SharedMemory> SharedMemory::Create(std::string name, size_t bytes) {
  SharedMemory memory;
  memory.fd_ = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (memory.fd_ < 0) return Failed(errno, "shm_open", name);
  memory.name_ = std::move(name);
  memory.size_ = bytes;
  GDNPLAN_RETURN_IF_ERROR(memory.Reserve());
  return memory;
}

absl::Status SharedMemory::Reserve() {
  // Waits no longer than another server's look at the object takes.
  while (flock(fd_, LOCK_SH) != 0) {
    if (errno != EINTR) return Failed(errno, "flock", name_);
  }
  // Asking first spares the system an attempt that fills it to the brim and then fails.
  const SharedMemorySpace space = GetSharedMemorySpace();
  if (space.total > 0 && size_ > space.available) return DoesNotFit(size_, space.available);
  const auto length = static_cast<off_t>(size_);
  if (ftruncate(fd_, length) != 0) {
    if (errno != EFBIG) return Failed(errno, "ftruncate", name_);
    return absl::ResourceExhaustedError(
        absl::StrCat("shared memory: ", size_,
                     " bytes are above the limit of files' sizes of the "
                     "server's process; raise it (ulimit -f, LimitFSIZE=)"));
  }
  int error = 0;
  do {
    error = posix_fallocate(fd_, 0, length);
  } while (error == EINTR);
  if (error == ENOSPC || error == ENOMEM) {
    return DoesNotFit(size_, GetSharedMemorySpace().available);
  }
  if (error != 0) return Failed(error, "posix_fallocate", name_);
  void* address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (address == MAP_FAILED) return Failed(errno, "mmap", name_);
  data_ = static_cast<std::byte*>(address);
  return absl::OkStatus();
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : name_(std::exchange(other.name_, {})),
      fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (!name_.empty()) shm_unlink(name_.c_str());
  if (data_ != nullptr) munmap(data_, size_);
  if (fd_ >= 0) close(fd_);
}

int RemoveAbandonedSharedMemory(const std::string& prefix) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(kDirectory), closedir);
  if (directory == nullptr) return 0;
  int removed = 0;
  while (const dirent* entry = readdir(directory.get())) {
    if (!std::string_view(entry->d_name).starts_with(prefix)) continue;
    const std::string name = absl::StrCat("/", entry->d_name);
    const int fd = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) continue;
    // An owner holds a shared lock from its second system call on. Younger objects are empty.
    struct stat info {};
    const bool abandoned = flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 &&
                           (info.st_size > 0 || IsOld(entry->d_name)) && info.st_uid == geteuid();
    if (abandoned && shm_unlink(name.c_str()) == 0) ++removed;
    close(fd);
  }
  return removed;
}

}  // namespace gdnplan::server
