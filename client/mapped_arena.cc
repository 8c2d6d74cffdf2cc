// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/mapped_arena.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cuda_arena.h"
#include "client/posix_arena.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::client {
namespace {

absl::Status Differs(std::string_view field, std::string_view got, std::string_view want) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the mapped arena is not the session's: ", plan::ToAbsl(field), " is ", plan::ToAbsl(got),
      ", must be ", plan::ToAbsl(want), "; open or attach to the session again"));
}

absl::Status Differs(std::string_view field, uint64_t got, uint64_t want) {
  return Differs(field, std::to_string(got), std::to_string(want));
}

std::string Hex(const std::array<uint8_t, 16>& bytes) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

absl::Status CheckHeader(const plan::ArenaHeader& header, const SessionInfo& session,
                         const ArenaInfo& arena) {
  if (header.magic != plan::kArenaMagic) {
    return Differs("magic", "another", "that of an arena");
  }
  if (header.layout_version != plan::kArenaLayoutVersion) {
    return Differs("layout_version", header.layout_version, plan::kArenaLayoutVersion);
  }
  if (const std::string boot_id = Hex(header.boot_id); boot_id != session.boot_id) {
    return Differs("boot_id", boot_id, session.boot_id);
  }
  if (header.generation != arena.generation) {
    return Differs("generation", header.generation, arena.generation);
  }
  if (header.arena_bytes != session.arena_bytes) {
    return Differs("arena_bytes", header.arena_bytes, session.arena_bytes);
  }
  if (header.num_slots != static_cast<uint32_t>(session.num_slots)) {
    return Differs("num_slots", header.num_slots, static_cast<uint32_t>(session.num_slots));
  }
  return absl::OkStatus();
}

absl::Status MappedArena::WaitOnStream(CUstream_st*, uint64_t, uint64_t) const {
  return absl::UnimplementedError("the session is not on a GPU: use WaitReady");
}

absl::Status MappedArena::WriteOnStream(CUstream_st*, uint64_t, uint64_t) const {
  return absl::UnimplementedError("the session is not on a GPU: use MarkConsumed");
}

absl::StatusOr<std::shared_ptr<MappedArena>> MapArena(const SessionInfo& session, size_t index) {
  const ArenaInfo& arena = session.arenas[index];
  if (arena.size < sizeof(plan::ArenaHeader)) {
    return absl::InternalError(absl::StrCat("arena.memory.size: must hold the header of ",
                                            sizeof(plan::ArenaHeader), " bytes (got ", arena.size,
                                            ")"));
  }
  if (std::holds_alternative<CudaIpcMemory>(arena.memory)) return MapCudaArena(session, arena);
  const auto* posix = std::get_if<PosixSharedMemory>(&arena.memory);
  if (posix == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("device ", arena.device.id,
                     ": its memory handle is of a kind that this client does not know; set map_now "
                     "= false to plan without reading the tensors"));
  }
  GDNPLAN_ASSIGN_OR_RETURN(std::shared_ptr<MappedArena> mapped,
                           MapPosixArena(posix->name, arena.offset, arena.size));
  GDNPLAN_RETURN_IF_ERROR(CheckHeader(HeaderOf(*mapped), session, arena));
  return mapped;
}

plan::ArenaHeader HeaderOf(const MappedArena& arena) {
  plan::ArenaHeader header;
  std::memcpy(&header, arena.data(), sizeof(header));
  return header;
}

}  // namespace gdnplan::client
