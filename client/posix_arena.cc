// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/posix_arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace gdnplan::client {
namespace {

constexpr size_t kMaxNameBytes = 255;

class PosixArena final : public MappedArena {
 public:
  PosixArena(void* address, size_t mapped_bytes, uint64_t offset, uint64_t size)
      : address_(address), mapped_bytes_(mapped_bytes), offset_(offset), size_(size) {}
  PosixArena(const PosixArena&) = delete;
  PosixArena& operator=(const PosixArena&) = delete;
  ~PosixArena() override { munmap(address_, mapped_bytes_); }

  DeviceKind device() const override { return DeviceKind::kHost; }
  const std::byte* data() const override { return base(); }
  uint64_t size() const override { return size_; }

  absl::StatusOr<uint64_t> LoadValue(uint64_t offset) const override {
    return Value(offset).load(std::memory_order_acquire);
  }
  absl::Status RaiseValue(uint64_t offset, uint64_t value) const override {
    std::atomic_ref<uint64_t> place = Value(offset);
    uint64_t current = place.load(std::memory_order_relaxed);
    while (current < value &&
           !place.compare_exchange_weak(current, value, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return absl::OkStatus();
  }

  absl::Status CopyToHost(uint64_t offset, std::span<std::byte> bytes) const override {
    if (!bytes.empty()) std::memcpy(bytes.data(), base() + offset, bytes.size());
    return absl::OkStatus();
  }

 private:
  std::byte* base() const { return static_cast<std::byte*>(address_) + offset_; }
  std::atomic_ref<uint64_t> Value(uint64_t offset) const {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(base() + offset));
  }
  static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

  void* const address_;
  const size_t mapped_bytes_;
  const uint64_t offset_;
  const uint64_t size_;
};

class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {}
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  const int fd_;
};

// The name comes from the wire: it must name an object of shared memory and no other file.
bool IsObjectName(const std::string& name) {
  return name.size() > 1 && name.size() <= kMaxNameBytes && name[0] == '/' &&
         name.find('/', 1) == std::string::npos && name.find('\0') == std::string::npos &&
         name != "/." && name != "/..";
}

absl::Status CannotOpen(int error, const std::string& name) {
  const std::string what = absl::StrCat("cannot open the arena's shared memory ", name);
  if (error == ENOENT) {
    return absl::NotFoundError(absl::StrCat(
        what,
        ": no such object; either the session was closed, or this process does not share "
        "/dev/shm with the server (containers need a common one)"));
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(what, ": permission denied; run as the server's user"));
  }
  return absl::ErrnoToStatus(error, what);
}

}  // namespace

absl::StatusOr<std::shared_ptr<MappedArena>> MapPosixArena(const std::string& name, uint64_t offset,
                                                           uint64_t size) {
  if (!IsObjectName(name)) {
    return absl::InternalError(absl::StrCat(
        "the server's name for the arena's shared memory is none: it has ", name.size(),
        " bytes; it must be a slash and 1 to ", kMaxNameBytes - 1, " others"));
  }
  const uint64_t limit = std::numeric_limits<int64_t>::max();
  if (offset % 8 != 0 || offset > limit || size == 0 || size > limit - offset) {
    return absl::InternalError(
        absl::StrCat("arena.memory: ", size, " bytes at offset ", offset, " cannot be mapped"));
  }
  const ScopedFd fd(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (fd.get() < 0) return CannotOpen(errno, name);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("fstat ", name));
  // Reading past the object's end would end the process.
  if (info.st_size < 0 || static_cast<uint64_t>(info.st_size) < offset + size) {
    return absl::FailedPreconditionError(absl::StrCat(
        "shared memory ", name, " has ", info.st_size, " bytes, the arena needs ", offset + size,
        "; it is not the described one: open or attach to the session again"));
  }
  const size_t bytes = offset + size;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return absl::ErrnoToStatus(errno, absl::StrCat("mmap ", name));
  return std::make_shared<PosixArena>(address, bytes, offset, size);
}

bool SharesMemory(const std::string& probe, const std::string& boot_id) {
  if (!IsObjectName(probe) || boot_id.empty()) return false;
  const ScopedFd fd(shm_open(probe.c_str(), O_RDONLY | O_CLOEXEC, 0));
  if (fd.get() < 0) return false;
  std::string content(boot_id.size(), '\0');
  const ssize_t got = pread(fd.get(), content.data(), content.size(), 0);
  return got == static_cast<ssize_t>(boot_id.size()) && content == boot_id;
}

}  // namespace gdnplan::client
