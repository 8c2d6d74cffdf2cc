// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/client/async_plan_stream.h"

#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "client/forked_child.h"
#include "client/plan_stream_state.h"
#include "wire/start_thread.h"

namespace gdnplan::client {

class AsyncPlanStream::Impl {
 public:
  explicit Impl(PlanStream stream) : stream_(std::move(stream)) {
    if (stream_.in_flight() > 0) {
      stream_.state_->Cancel(absl::FailedPreconditionError(
          "plans were in flight when the stream became asynchronous: take their answers before"));
    }
    thread_ = wire::StartThread([this] { Run(); });
  }

  // Returns once all callbacks ran. Apart from the destructor, for they may call Plan.
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.ok()) thread_->join();
  }

  // There the thread is not, and locks may be held for ever.
  bool InForkedChild() const { return getpid() != pid_; }

  void Plan(const plan::BatchView& batch, const PlanOptions& options, Callback callback) {
    if (InForkedChild()) return callback(StreamInForkedChild());
    if (!thread_.ok()) return callback(thread_.status());
    for (;;) {
      const uint64_t taken = AwaitTaken(std::nullopt);
      {
        // Requests and callbacks in the same order.
        const std::lock_guard submit(submit_mutex_);
        const absl::Status submitted = Submit(batch, options);
        if (submitted.ok() || !MayWaitAfter(submitted)) {
          const std::lock_guard lock(mutex_);
          waiting_.push_back({std::move(callback), options.deadline, submitted});
          break;
        }
      }
      AwaitTaken(taken);
    }
    changed_.notify_all();
  }

  void Cancel() {
    if (!InForkedChild()) stream_.Cancel();
  }

 private:
  struct Waiting {
    Callback callback;
    std::optional<std::chrono::milliseconds> deadline;
    absl::Status submitted;
  };

  absl::Status Submit(const plan::BatchView& batch, const PlanOptions& options) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return absl::CancelledError("the stream is being destroyed");
    }
    return stream_.Submit(batch, options);
  }

  // Whether it was refused for being one too many, and somebody else takes answers.
  bool MayWaitAfter(const absl::Status& refused) const {
    return absl::IsResourceExhausted(refused) && refused != stream_.broken() &&
           std::this_thread::get_id() != thread_->get_id();
  }

  // Answers taken so far; waits until there are more than `known`.
  uint64_t AwaitTaken(std::optional<uint64_t> known) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_taken_ != known; });
    return num_taken_;
  }

  void Run() {
    while (true) {
      Waiting first;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        first = std::move(waiting_.front());
        waiting_.pop_front();
      }
      absl::StatusOr<PlanView> plan = first.submitted.ok()
                                          ? stream_.state_->NextOrEnd(first.deadline)
                                          : absl::StatusOr<PlanView>(first.submitted);
      {
        const std::lock_guard lock(mutex_);
        ++num_taken_;
      }
      changed_.notify_all();
      first.callback(std::move(plan));
    }
  }

  PlanStream stream_;
  std::mutex submit_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;  // guarded by mutex_, as are the next
  uint64_t num_taken_ = 0;
  bool stop_ = false;
  const pid_t pid_ = getpid();
  absl::StatusOr<std::thread> thread_;  // or why there is none; set by the constructor
};

AsyncPlanStream::AsyncPlanStream(PlanStream stream)
    : impl_(std::make_unique<Impl>(std::move(stream))) {}
AsyncPlanStream::~AsyncPlanStream() { End(); }
AsyncPlanStream::AsyncPlanStream(AsyncPlanStream&&) noexcept = default;

AsyncPlanStream& AsyncPlanStream::operator=(AsyncPlanStream&& other) noexcept {
  End();
  impl_ = std::move(other.impl_);
  return *this;
}

void AsyncPlanStream::End() {
  if (impl_ == nullptr) return;
  if (impl_->InForkedChild()) {
    static_cast<void>(impl_.release());
  } else {
    impl_->Stop();
  }
}

void AsyncPlanStream::Plan(const plan::BatchView& batch, const PlanOptions& options,
                           Callback callback) {
  impl_->Plan(batch, options, std::move(callback));
}

std::future<absl::StatusOr<PlanView>> AsyncPlanStream::Plan(const plan::BatchView& batch,
                                                            const PlanOptions& options) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<PlanView>>>();
  std::future<absl::StatusOr<PlanView>> future = promise->get_future();
  Plan(batch, options,
       [promise](absl::StatusOr<PlanView> plan) { promise->set_value(std::move(plan)); });
  return future;
}

void AsyncPlanStream::Cancel() { impl_->Cancel(); }

}  // namespace gdnplan::client
