// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The wrong plans of a load.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::tool {

// Tells of wrong plans and keeps their batches in a directory, a few of them. Thread safe.
class Mismatches {
 public:
  explicit Mismatches(std::string directory) : directory_(std::move(directory)) {}

  // Whether files can be made there.
  absl::Status CheckDirectory() const;
  void Add(const plan::PlanConfig& config, const json::OwnedBatch& batch,
           const std::vector<std::string>& mismatches);
  // Also those of warm-ups, which no result counts.
  bool any() const;

 private:
  const std::string directory_;
  mutable std::mutex mutex_;
  int count_ = 0;  // guarded by mutex_
};

}  // namespace gdnplan::tool
