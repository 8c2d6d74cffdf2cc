// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where one session's requests leave what they measured.
#pragma once

#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "client/load/sample.h"

namespace gdnplan::load {

// Thread safe.
class Recorder {
 public:
  // fill(sample) adds to what was recorded since the last Take.
  template <typename Fill>
  void Record(Fill fill) {
    const std::lock_guard lock(mutex_);
    fill(sample_);
  }
  void AddError(const absl::Status& status) {
    Record([&](Sample& sample) { ++sample.errors[absl::StatusCodeToString(status.code())]; });
  }
  Sample Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sample_, {});
  }

 private:
  std::mutex mutex_;
  Sample sample_;  // guarded by mutex_
};

}  // namespace gdnplan::load
