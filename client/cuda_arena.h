// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "client/mapped_arena.h"

namespace gdnplan::client {

// Opens the arena's CUDA IPC handle on its GPU, once per process: sessions that map the same arena
// share the mapping. NotFound: the GPU is not visible here; FailedPrecondition: the server's own
// process, equal PIDs in two namespaces, or another arena; Unimplemented: a build without CUDA.
absl::StatusOr<std::shared_ptr<MappedArena>> MapCudaArena(const SessionInfo& session,
                                                          const ArenaInfo& arena);

}  // namespace gdnplan::client
