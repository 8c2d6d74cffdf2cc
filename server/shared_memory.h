// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// POSIX shared memory that another process of the same user can map by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gdnplan::server {

// Owns the object, its name and one mapping of it. The destructor unlinks the name and unmaps;
// other processes' mappings stay readable.
class SharedMemory {
 public:
  // Zeroed. `name` starts with '/' and is new. ResourceExhausted, with the bytes asked and
  // available, when the memory does not fit: it is reserved here, so that touching it later cannot
  // raise SIGBUS.
  static absl::StatusOr<SharedMemory> Create(std::string name, size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  const std::string& name() const { return name_; }
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  SharedMemory() = default;
  absl::Status Reserve();

  std::string name_;  // empty: owns nothing
  int fd_ = -1;       // stays open for its lock, see RemoveAbandoned
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Bytes of the file system that shared memory lives on.
struct SharedMemorySpace {
  uint64_t total = 0;
  uint64_t available = 0;
};
SharedMemorySpace GetSharedMemorySpace();

// Unlinks the objects whose names start with "/PREFIX" and whose owner is gone without having done
// so, as after SIGKILL. Owners hold a lock on their objects, which ends with their process. Returns
// how many it unlinked.
int RemoveAbandonedSharedMemory(const std::string& prefix);

}  // namespace gdnplan::server
