// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session beside what it must be like: each call is made on both and the answers compared.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/json/owned_batch.h"
#include "server/plan_follower.h"
#include "server/session.h"
#include "server/session_registry.h"
#include "tests/server/session_testing.h"
#include "tests/testing/planned_slot.h"

namespace gdnplan::test {

// What becomes of a plan that has to wait for its slot. A session that is not patient (one
// millisecond of slot_wait) always lets it time out.
enum class WhileWaiting : uint8_t { kConsume, kAbandon, kClose };

class SessionModel {
 public:
  // A time that no run lasts.
  static constexpr std::chrono::milliseconds kPatient = std::chrono::hours(1);

  explicit SessionModel(std::shared_ptr<server::Session> session);
  ~SessionModel();

  const std::string& id() const { return session_->id(); }
  const plan::PlanConfig& config() const { return session_->options().config; }
  int32_t num_slots() const { return session_->options().num_slots; }
  size_t num_arenas() const { return arenas_.size(); }
  uint64_t last_value() const { return last_value_; }

  void Plan(json::OwnedBatch batch, server::Completion completion, WhileWaiting how,
            server::SessionRegistry& registry);
  // The batch that a plan was made of; null: no slot holds it.
  const json::OwnedBatch* BatchOf(uint64_t plan_id) const;
  void Update(uint64_t plan_id, int32_t group, const json::OwnedBlockTable& table);
  void Attach(const std::vector<std::string>& consumer_of);
  // As whoever consumes may do, and as they may not.
  void Consume(size_t arena, int32_t slot, uint64_t value);
  void Follow();
  void Unfollow();
  // After the registry closed it, with what calls answer from now on.
  void Closed(absl::StatusCode code);
  bool closed() const { return end_ != absl::StatusCode::kOk; }

  // No byte of a slot is other than its last plan left it.
  void Check() const;

 private:
  struct Slot {
    explicit Slot(const plan::PlanConfig& config) : planned(config) {}
    uint64_t plan_id = 0;
    uint64_t timeline_value = 0;
    json::OwnedBatch batch;
    PlannedSlot planned;
    // Each on each device.
    std::vector<std::vector<std::byte>> bytes;
    std::vector<uint64_t> consumed;
  };
  class Follower;

  Slot& NextSlot();
  bool IsFree(const Slot& slot) const;
  void ConsumeAll(Slot& slot);
  void KeepBytes(int32_t index);
  void Accepted(Slot& slot, const absl::StatusOr<server::PlanResult>& result);
  void Refused(const absl::Status& got, const absl::Status& want);
  void Refused(const absl::Status& got, absl::StatusCode want);

  const std::shared_ptr<server::Session> session_;
  std::vector<std::unique_ptr<ClientArena>> arenas_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<Follower> follower_;
  uint64_t num_plans_ = 0;
  uint64_t num_refused_ = 0;
  uint64_t last_plan_id_ = 0;
  uint64_t last_value_ = 0;
  absl::StatusCode end_ = absl::StatusCode::kOk;
};

}  // namespace gdnplan::test
