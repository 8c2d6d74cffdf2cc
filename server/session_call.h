// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A request on its way through a session.
#pragma once

#include <chrono>
#include <cstdint>
#include <variant>

#include "absl/status/statusor.h"
#include "gdnplan/plan/batch.h"
#include "server/plan_result.h"

namespace gdnplan::server {

enum class Completion : uint8_t {
  kEnqueued,  // answer as soon as the work is enqueued
  kWait,      // answer once the bytes are there
};

struct UpdateInput {
  uint64_t plan_id = 0;
  int32_t group = 0;
  plan::BlockTableView table;
};

// Derived by whoever asks. What `input` points to must live until Done.
class SessionCall {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~SessionCall() = default;
  SessionCall(const SessionCall&) = delete;
  SessionCall& operator=(const SessionCall&) = delete;

  // Called once, on any thread, with no lock held. May delete the call.
  virtual void Done(const absl::StatusOr<PlanResult>& result) = 0;
  // Whether nobody waits for the answer any more. A call that still waits for its turn is dropped
  // then. Asked from any thread, under a lock: must not block.
  virtual bool Abandoned() const { return false; }

  std::variant<plan::BatchView, UpdateInput> input;
  Completion completion = Completion::kEnqueued;
  // Taken note of as the call arrives, whatever becomes of it; see DeviceArena::Promise. 0:
  // nothing.
  uint64_t consumption_promised = 0;
  // When its message was about to be parsed, for the record; the epoch: it came without one.
  Clock::time_point received;

 protected:
  SessionCall() = default;

 private:
  friend class CallList;
  friend class Session;

  SessionCall* next_ = nullptr;
  Clock::time_point start_;
  Clock::time_point begun_;
  Clock::time_point enqueued_;
  Clock::time_point deadline_;
  absl::StatusOr<PlanResult> result_;
};

// Calls in order. Owns none of them. Not thread safe.
class CallList {
 public:
  bool empty() const { return head_ == nullptr; }
  int size() const { return size_; }
  SessionCall& front() const { return *head_; }

  void Push(SessionCall& call) {
    call.next_ = nullptr;
    (head_ == nullptr ? head_ : tail_->next_) = &call;
    tail_ = &call;
    ++size_;
  }
  SessionCall& Pop() {
    SessionCall& call = *head_;
    head_ = call.next_;
    --size_;
    return call;
  }
  // Empties the list. With no lock held.
  void AnswerAll() {
    while (!empty()) {
      SessionCall& call = Pop();
      call.Done(call.result_);
    }
  }

 private:
  SessionCall* head_ = nullptr;
  SessionCall* tail_ = nullptr;
  int size_ = 0;
};

}  // namespace gdnplan::server
