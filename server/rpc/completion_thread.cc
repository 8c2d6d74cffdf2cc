// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/completion_thread.h"

#include <grpcpp/alarm.h>

#include <chrono>
#include <utility>

#include "server/rpc/tag.h"

namespace gdnplan::server {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// Counts as a call, so that the thread polls.
class CompletionThread::PingTag final : public Tag {
 public:
  PingTag(CompletionThread& thread, std::function<void()> pong)
      : thread_(thread), pong_(std::move(pong)) {
    thread_.AddCall();
    alarm_.Set(&thread_.queue(), gpr_inf_past(GPR_CLOCK_MONOTONIC), this);
  }
  void Complete(bool /*ok*/) override {
    pong_();
    CompletionThread& thread = thread_;
    delete this;
    thread.RemoveCall();
  }

 private:
  CompletionThread& thread_;
  const std::function<void()> pong_;
  grpc::Alarm alarm_;
};

void CompletionThread::Ping(std::function<void()> pong) { new PingTag(*this, std::move(pong)); }

CompletionThread::CompletionThread(std::unique_ptr<grpc::ServerCompletionQueue> queue,
                                   PollMode mode, bool always_on)
    : queue_(std::move(queue)), always_on_(always_on), policy_(mode) {}

void CompletionThread::Stop() {
  {
    MutexLock lock(mutex_);
    if (stop_) return;
    while (num_calls_ > 0) changed_.Wait(mutex_);
    stop_ = true;
  }
  queue_->Shutdown();
  changed_.NotifyAll();
  if (thread_.joinable()) {
    thread_.join();
  } else {
    // A queue must be empty when it goes.
    Drain();
  }
}

void CompletionThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void CompletionThread::AddCall() {
  {
    MutexLock lock(mutex_);
    if (++num_calls_ > 1) return;
  }
  changed_.NotifyAll();
}

void CompletionThread::RemoveCall() {
  MutexLock lock(mutex_);
  // Under the lock: with the last call the destructor may go on.
  if (--num_calls_ == 0) changed_.NotifyAll();
}

int CompletionThread::num_calls() const {
  MutexLock lock(mutex_);
  return num_calls_;
}

void CompletionThread::Drain() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Tag*>(tag)->Complete(ok);
}

void CompletionThread::AwaitCalls() {
  if (always_on_) return;
  MutexLock lock(mutex_);
  while (num_calls_ == 0 && !stop_) changed_.Wait(mutex_);
}

void CompletionThread::Run() {
  void* tag = nullptr;
  bool ok = false;
  AwaitCalls();
  while (Next(&tag, &ok)) {
    static_cast<Tag*>(tag)->Complete(ok);
    AwaitCalls();
  }
}

bool CompletionThread::Next(void** tag, bool* ok) {
  const PollPolicy::Duration budget = policy_.budget();
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  bool got = false;
  bool ended = false;
  while (!got && !ended && now - start < budget) {
    const auto status = queue_->AsyncNext(tag, ok, gpr_time_0(GPR_CLOCK_MONOTONIC));
    got = status == grpc::CompletionQueue::GOT_EVENT;
    ended = status == grpc::CompletionQueue::SHUTDOWN;
    now = Clock::now();
  }
  if (!got && !ended) {
    got = queue_->Next(tag, ok);
    now = Clock::now();
  }
  policy_.Waited(now - start);
  return got;
}

}  // namespace gdnplan::server
