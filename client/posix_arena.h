// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/mapped_arena.h"

namespace gdnplan::client {

// Maps `size` bytes from `offset` of a POSIX shared memory object, to read and write. What lies
// there is not looked at. NotFound, PermissionDenied: it cannot be opened here;
// FailedPrecondition: it is smaller than that.
absl::StatusOr<std::shared_ptr<MappedArena>> MapPosixArena(const std::string& name, uint64_t offset,
                                                           uint64_t size);

// Whether this process sees the server's shared memory: the object `probe` holds `boot_id` there.
bool SharesMemory(const std::string& probe, const std::string& boot_id);

}  // namespace gdnplan::client
