// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Of builds without CUDA.
#include "absl/strings/str_cat.h"
#include "client/cuda_arena.h"

namespace gdnplan::client {

absl::StatusOr<std::shared_ptr<MappedArena>> MapCudaArena(const SessionInfo& /*session*/,
                                                          const ArenaInfo& arena) {
  return absl::UnimplementedError(
      absl::StrCat("device ", arena.device.id,
                   ": this client was built without CUDA; set map_now = false to plan without "
                   "reading the tensors"));
}

}  // namespace gdnplan::client
