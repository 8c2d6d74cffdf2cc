// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/session_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace gdnplan::test {

using server::PlanResult;

// Is told of each plan and update, in the session's lock.
class SessionModel::Follower final : public server::PlanFollower {
 public:
  void OnPlan(const PlanResult& result) override { last_value = result.timeline_value; }
  void OnEnd(const absl::Status& reason) override {
    EXPECT_EQ(end, absl::StatusCode::kOk);
    end = reason.code();
  }

  uint64_t last_value = 0;
  absl::StatusCode end = absl::StatusCode::kOk;
};

SessionModel::SessionModel(std::shared_ptr<server::Session> session)
    : session_(std::move(session)) {
  for (const server::ArenaDescription& arena : session_->arenas()) {
    arenas_.push_back(std::make_unique<ClientArena>(arena.handle, session_->layout()));
  }
  for (int32_t i = 0; i < num_slots(); ++i) {
    slots_.push_back(std::make_unique<Slot>(config()));
    slots_.back()->bytes.resize(arenas_.size());
    slots_.back()->consumed.resize(arenas_.size());
    KeepBytes(i);
  }
}

SessionModel::~SessionModel() { Unfollow(); }

SessionModel::Slot& SessionModel::NextSlot() { return *slots_[num_plans_ % slots_.size()]; }

bool SessionModel::IsFree(const Slot& slot) const {
  if (!session_->options().guarded) return true;
  return std::all_of(slot.consumed.begin(), slot.consumed.end(),
                     [&](uint64_t value) { return value >= slot.timeline_value; });
}

void SessionModel::ConsumeAll(Slot& slot) {
  const auto index = static_cast<int32_t>(num_plans_ % slots_.size());
  for (size_t a = 0; a < arenas_.size(); ++a) {
    Consume(a, index, std::max(slot.consumed[a], slot.timeline_value));
  }
}

void SessionModel::KeepBytes(int32_t index) {
  for (size_t a = 0; a < arenas_.size(); ++a) {
    const std::span<const std::byte> bytes = arenas_[a]->slot(index);
    slots_[static_cast<size_t>(index)]->bytes[a].assign(bytes.begin(), bytes.end());
  }
}

void SessionModel::Plan(json::OwnedBatch batch, server::Completion completion, WhileWaiting how,
                        server::SessionRegistry& registry) {
  // What the core makes of it, before the session is asked.
  PlannedSlot planned(config());
  const absl::Status valid = planned.Plan(batch.view());
  Slot& slot = NextSlot();
  TestCall call(batch.view());
  call.completion = completion;
  if (closed() || !valid.ok() || IsFree(slot)) {
    session_->Submit(call);
    ASSERT_TRUE(call.IsDone());
    if (closed()) return Refused(call.Wait().status(), end_);
    if (!valid.ok()) return Refused(call.Wait().status(), valid);
  } else {
    session_->Submit(call);
    if (session_->options().slot_wait < kPatient) {
      return Refused(call.Wait().status(), absl::StatusCode::kResourceExhausted);
    }
    EXPECT_FALSE(call.IsDone());
    if (how == WhileWaiting::kAbandon) {
      call.Abandon();
      return Refused(call.Wait().status(), absl::StatusCode::kCancelled);
    }
    if (how == WhileWaiting::kClose) {
      EXPECT_TRUE(registry.Close(id()).ok());
      Refused(call.Wait().status(), absl::StatusCode::kNotFound);
      return Closed(absl::StatusCode::kNotFound);
    }
    ConsumeAll(slot);
  }
  slot.planned = std::move(planned);
  slot.batch = std::move(batch);
  last_plan_id_ = slot.plan_id = slot.timeline_value = ++last_value_;
  ++num_plans_;
  Accepted(slot, call.Wait());
}

const json::OwnedBatch* SessionModel::BatchOf(uint64_t plan_id) const {
  for (const auto& slot : slots_) {
    if (slot->plan_id == plan_id && slot->plan_id != 0) return &slot->batch;
  }
  return nullptr;
}

void SessionModel::Update(uint64_t plan_id, int32_t group, const json::OwnedBlockTable& table) {
  const absl::StatusOr<PlanResult> result =
      test::Update(*session_, {.plan_id = plan_id, .group = group, .table = table.view()});
  if (closed()) return Refused(result.status(), end_);
  if (plan_id == 0 || plan_id > last_plan_id_) {
    return Refused(result.status(), absl::StatusCode::kInvalidArgument);
  }
  const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                 [&](const auto& s) { return s->plan_id == plan_id; });
  if (slot == slots_.end()) {
    return Refused(result.status(), absl::StatusCode::kFailedPrecondition);
  }
  const absl::Status valid = (*slot)->planned.Regather(group, table.view());
  if (!valid.ok()) return Refused(result.status(), valid);
  (*slot)->timeline_value = ++last_value_;
  Accepted(**slot, result);
}

void SessionModel::Accepted(Slot& slot, const absl::StatusOr<PlanResult>& result) {
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->plan_id, slot.plan_id);
  EXPECT_EQ(result->timeline_value, slot.timeline_value);
  EXPECT_EQ(slots_[static_cast<size_t>(result->slot)].get(), &slot);
  EXPECT_EQ(result->slot_offset, session_->layout().slot_offset(result->slot));
  EXPECT_TRUE(result->complete);
  for (const auto& arena : arenas_) ExpectHolds(*result, *arena, slot.planned);
  KeepBytes(result->slot);
  if (follower_ != nullptr) EXPECT_EQ(follower_->last_value, last_value_);
}

void SessionModel::Refused(const absl::Status& got, const absl::Status& want) {
  EXPECT_EQ(got, want);
  Refused(got, want.code());
}

void SessionModel::Refused(const absl::Status& got, absl::StatusCode want) {
  EXPECT_EQ(got.code(), want) << got;
  ++num_refused_;
}

void SessionModel::Attach(const std::vector<std::string>& consumer_of) {
  const auto& arenas = session_->arenas();
  std::vector<size_t> released;
  bool known = true;
  for (const std::string& id : consumer_of) {
    const auto arena = std::find_if(arenas.begin(), arenas.end(),
                                    [&](const auto& a) { return a.device.id == id; });
    known = known && arena != arenas.end();
    released.push_back(static_cast<size_t>(arena - arenas.begin()));
  }
  const absl::Status status = session_->ReleaseConsumers(consumer_of);
  if (closed()) {
    EXPECT_EQ(status.code(), end_);
  } else if (!known) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  } else {
    EXPECT_TRUE(status.ok()) << status;
    for (const size_t a : released) {
      for (const auto& slot : slots_) slot->consumed[a] = last_value_;
    }
  }
}

void SessionModel::Consume(size_t arena, int32_t slot, uint64_t value) {
  arenas_[arena]->Consume(slot, value);
  slots_[static_cast<size_t>(slot)]->consumed[arena] = value;
}

void SessionModel::Follow() {
  if (follower_ != nullptr) return;
  auto follower = std::make_unique<Follower>();
  const absl::StatusOr<uint64_t> last = session_->Follow(*follower);
  if (closed()) {
    EXPECT_EQ(last.status().code(), end_);
    return;
  }
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(*last, last_plan_id_);
  follower_ = std::move(follower);
}

void SessionModel::Unfollow() {
  if (follower_ == nullptr) return;
  session_->Unfollow(*follower_);
  EXPECT_EQ(follower_->end, end_);
  follower_.reset();
}

void SessionModel::Closed(absl::StatusCode code) {
  if (closed()) return;
  end_ = code;
  for (const server::ArenaDescription& arena : session_->arenas()) {
    EXPECT_FALSE(Exists(arena.handle));
  }
}

void SessionModel::Check() const {
  const server::SessionStatistics statistics = session_->statistics();
  EXPECT_EQ(statistics.num_plans, num_plans_);
  EXPECT_EQ(statistics.last_plan_id, last_plan_id_);
  EXPECT_EQ(statistics.num_refused, num_refused_);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = *slots_[i];
    const auto index = static_cast<int32_t>(i);
    for (size_t a = 0; a < arenas_.size(); ++a) {
      EXPECT_EQ(arenas_[a]->ready(index), slot.timeline_value);
      const std::span<const std::byte> bytes = arenas_[a]->slot(index);
      EXPECT_EQ(std::memcmp(bytes.data(), slot.bytes[a].data(), bytes.size()), 0);
    }
  }
}

}  // namespace gdnplan::test
