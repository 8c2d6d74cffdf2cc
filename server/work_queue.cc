// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/work_queue.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::server {
namespace {

// Tasks are slow: they allocate a device's memory, or free it.
constexpr std::chrono::milliseconds kRetryDelay{100};

}  // namespace

// Complete before it begins: where the system gives no thread, the destructor stops those it gave.
WorkQueue::WorkQueue(Limits limits) : WorkQueue(limits, Idle()) {
  for (int i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { Work(); });
}

WorkQueue::~WorkQueue() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkQueue::Run(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (tasks_.size() >= limits_.waiting) {
      return plan::RetryAfter(
          absl::UnavailableError(absl::StrCat("the server is busy: ", limits_.waiting,
                                              " requests of this kind wait; try again")),
          kRetryDelay);
    }
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
  return absl::OkStatus();
}

void WorkQueue::Work() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      while (!stop_ && tasks_.empty()) wake_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace gdnplan::server
