// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/call_events.h"

#include <algorithm>

#include "wire/deadline.h"

namespace gdnplan::client {
namespace {

using Clock = std::chrono::steady_clock;

gpr_timespec ToGrpc(CallEvents::Deadline deadline) {
  return wire::DeadlineIn(std::clamp<Clock::duration>(
      deadline - Clock::now(), Clock::duration::zero(), std::chrono::hours(24)));
}

}  // namespace

CallEvents::~CallEvents() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void* CallEvents::Begin(Operation operation) {
  const std::lock_guard lock(mutex_);
  State& state = states_[static_cast<size_t>(operation)];
  state.under_way = true;
  return &state;
}

std::optional<bool> CallEvents::Await(Operation operation, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const State& state = states_[static_cast<size_t>(operation)];
  while (state.under_way) {
    if (taking_) {
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && state.under_way) {
        return std::nullopt;
      }
      // Take gives up early where the deadline is far.
    } else if (!Take(deadline, lock) && state.under_way && Clock::now() >= deadline) {
      return std::nullopt;
    }
  }
  return state.ok;
}

bool CallEvents::Take(Deadline deadline, std::unique_lock<std::mutex>& lock) {
  using Status = grpc::CompletionQueue::NextStatus;
  taking_ = true;
  lock.unlock();
  void* tag = nullptr;
  bool ok = false;
  Status status = Status::TIMEOUT;
  if (poll_) {
    do {
      status = queue_.AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC));
    } while (status == Status::TIMEOUT && Clock::now() < deadline);
  } else {
    status = queue_.AsyncNext(&tag, &ok, ToGrpc(deadline));
  }
  lock.lock();
  taking_ = false;
  if (status == Status::GOT_EVENT) *static_cast<State*>(tag) = {.under_way = false, .ok = ok};
  // For those whose event it was, and for one of them to take the next.
  changed_.notify_all();
  return status == Status::GOT_EVENT;
}

}  // namespace gdnplan::client
