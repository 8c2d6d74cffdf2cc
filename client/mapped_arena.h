// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's memory on one device as this process sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gdnplan/client/session_info.h"
#include "gdnplan/client/types.h"
#include "gdnplan/plan/arena.h"

struct CUstream_st;

namespace gdnplan::client {

// Owns the mapping and unmaps with the object. Thread safe: the mapping does not change. Offsets
// are bytes from the arena's start; the caller has checked them against size().
class MappedArena {
 public:
  virtual ~MappedArena() = default;

  virtual DeviceKind device() const = 0;
  // Host memory, or a device pointer of this process.
  virtual const std::byte* data() const = 0;
  virtual uint64_t size() const = 0;

  // One timeline value, an 8-byte aligned 64-bit integer, from the CPU. What was written before the
  // value was is visible after the load. Unimplemented where the CPU has no access.
  virtual absl::StatusOr<uint64_t> LoadValue(uint64_t offset) const = 0;
  // Raises the value to at least `value`, after all reads before the call.
  virtual absl::Status RaiseValue(uint64_t offset, uint64_t value) const = 0;

  // Copies from the arena to host memory; returns when the bytes are there.
  virtual absl::Status CopyToHost(uint64_t offset, std::span<std::byte> bytes) const = 0;

  // The GPU's ordinal in this process.
  virtual int ordinal() const { return 0; }
  // A stream of that GPU waits until a value is at least `value`, or writes it. Unimplemented for
  // memory that is no GPU's.
  virtual absl::Status WaitOnStream(CUstream_st* stream, uint64_t offset, uint64_t value) const;
  virtual absl::Status WriteOnStream(CUstream_st* stream, uint64_t offset, uint64_t value) const;
};

// Maps one arena of the session and proves that it is the described one: size, magic, layout, boot
// id, generation. NotFound, PermissionDenied: this process cannot open it. FailedPrecondition: it
// is there but another one. Unimplemented: a kind of memory that this build cannot map.
absl::StatusOr<std::shared_ptr<MappedArena>> MapArena(const SessionInfo& session, size_t index);

// Of an arena or page in host memory, of at least the header's size.
plan::ArenaHeader HeaderOf(const MappedArena& arena);
// FailedPrecondition: the header is not the described arena's.
absl::Status CheckHeader(const plan::ArenaHeader& header, const SessionInfo& session,
                         const ArenaInfo& arena);

}  // namespace gdnplan::client
