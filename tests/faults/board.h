// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What the processes of a fault run know of each other; outlives each of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace gdnplan::test {

struct Board {
  static constexpr int kMaxOwners = 16;
  static constexpr size_t kKept = 64;

  // A plan that an owner had the answer to: its bytes are there.
  struct Answered {
    std::atomic<uint64_t> session{0};  // KeyOf its id
    std::atomic<uint64_t> plan_id{0};
    std::atomic<uint64_t> step{0};  // whose batch it is of
  };
  struct Owner {
    // The step that it asks for, or asked for last. A slot stays as it is for as many steps as
    // there are slots.
    std::atomic<uint64_t> step{0};
    std::array<Answered, kKept> answered{};
  };

  std::array<Owner, kMaxOwners> owners{};
  std::atomic<uint64_t> checked_by_owners{0};
  std::atomic<uint64_t> checked_by_workers{0};
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> sessions{0};  // opened
  std::atomic<uint64_t> attachments{0};
  std::atomic<uint64_t> errors{0};  // calls that failed, as they must while others die
};

// Maps the run's board, which is made where there is none. For the rest of the process.
absl::StatusOr<Board*> MapBoard(const std::string& directory);

uint64_t KeyOf(const std::string& session_id);

// An owner's session, for its worker: written whole or not at all. Empty: none yet.
void PublishSession(const std::string& directory, int owner, const std::string& session_id);
std::string PublishedSession(const std::string& directory, int owner);

// What was wrong with a plan, for people: appended to the run's file of them.
void NoteWrong(const std::string& directory, Board& board, const std::string& text);
std::string WrongPlans(const std::string& directory);

}  // namespace gdnplan::test
