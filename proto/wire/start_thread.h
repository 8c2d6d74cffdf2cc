// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Threads that the system may not have to give.
#pragma once

#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace gdnplan::wire {

// What an exception says to people: of a thread that there is none for, what to do about it.
inline std::string Explain(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system == nullptr || system->code() != std::errc::resource_unavailable_try_again) {
    return error.what();
  }
  return absl::StrCat("no thread: ", error.what(),
                      "; raise the limits of processes and memory (ulimit -u and -v, a container's "
                      "pids and memory)");
}

// ResourceExhausted: there is none.
template <typename Work>
absl::StatusOr<std::thread> StartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(Explain(error));
  }
}

}  // namespace gdnplan::wire
