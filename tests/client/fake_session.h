// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session without a server: its shared memory, its description, and plans of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/v1/plan.pb.h"
#include "gdnplan/v1/session.pb.h"

namespace gdnplan::client {

// Two slots, two groups, K = 1.
class FakeSession {
 public:
  FakeSession();
  FakeSession(const FakeSession&) = delete;
  FakeSession& operator=(const FakeSession&) = delete;
  ~FakeSession();

  v1::SessionDescription Description() const;
  // In slot 1: a shared tensor of 3 elements, a per-group one of 2 x 2 and a mask of 2.
  v1::Plan Plan() const;
  uint64_t MaskOffset() const;

  plan::ArenaHeader& header() const { return *reinterpret_cast<plan::ArenaHeader*>(data_); }
  std::atomic<uint64_t>& ready(int32_t slot) const { return Value(layout_.ready_offset(slot)); }
  std::atomic<uint64_t>& consumed(int32_t slot) const {
    return Value(layout_.consumed_offset(slot));
  }
  const plan::ArenaLayout& layout() const { return layout_; }
  const std::string& name() const { return name_; }
  // Cuts the shared memory to that many bytes.
  void Truncate(int64_t bytes);
  void Unlink();

 private:
  std::atomic<uint64_t>& Value(int64_t offset) const {
    return *reinterpret_cast<std::atomic<uint64_t>*>(data_ + offset);
  }

  plan::PlanConfig config_;
  plan::ArenaLayout layout_;
  std::string name_;
  int fd_ = -1;
  std::byte* data_ = nullptr;
};

}  // namespace gdnplan::client
