// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/lease_keeper.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <utility>
#include <vector>

#include "client/session_state.h"
#include "gdnplan/plan/status.h"
#include "wire/start_thread.h"

namespace gdnplan::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignsALease = 3;
// A sign may overtake the end of the stream that it is to make good for.
constexpr int kSoonSigns = 3;
constexpr std::chrono::milliseconds kSoonPause{250};
// Of a heartbeat; the destructor may wait for one.
constexpr std::chrono::milliseconds kDeadline{1'000};
constexpr std::chrono::milliseconds kShortest{5};

}  // namespace

// What the thread works with; it keeps it alive.
class LeaseKeeper::Work {
 public:
  void Add(const std::shared_ptr<SessionState>& session) {
    {
      const std::lock_guard lock(mutex_);
      sessions_.push_back({session, Clock::now() + Pause(*session)});
    }
    changed_.notify_all();
  }

  void SignSoon() {
    {
      const std::lock_guard lock(mutex_);
      if (sessions_.empty()) return;
      soon_ = kSoonSigns;
      soon_at_ = Clock::now();
    }
    changed_.notify_all();
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
  }

  void Run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const Clock::time_point next = NextSign();
      const Clock::time_point now = Clock::now();
      if (now < next) {
        // A duration, for TSan knows no other wait.
        changed_.wait_for(lock, std::min<Clock::duration>(next - now, std::chrono::hours(1)));
        continue;
      }
      const bool soon = soon_ > 0 && soon_at_ <= now;
      if (soon) {
        --soon_;
        soon_at_ = now + kSoonPause;
      }
      for (size_t i = 0; i < sessions_.size() && !stop_;) {
        if (!soon && sessions_[i].next > now) {
          ++i;
          continue;
        }
        const std::shared_ptr<SessionState> session = sessions_[i].session.lock();
        lock.unlock();
        const bool alive = session != nullptr && Sign(*session);
        lock.lock();
        if (alive) {
          sessions_[i++].next = Clock::now() + Pause(*session);
        } else {
          sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
    }
  }

 private:
  struct Kept {
    std::weak_ptr<SessionState> session;
    Clock::time_point next;
  };

  static Clock::duration Pause(const SessionState& session) {
    return std::max(session.info().lease / kSignsALease, kShortest);
  }

  // Whether there is anything to keep. A server that does not answer may do so next time.
  static bool Sign(const SessionState& session) {
    if (!session.CheckOpen().ok()) return false;
    v1::HeartbeatRequest request;
    request.set_session_id(session.info().session_id);
    request.set_attachment_id(session.attachment_id());
    const auto response = session.stub().Heartbeat({.deadline = kDeadline}, request);
    return !absl::IsNotFound(response.status()) && !absl::IsFailedPrecondition(response.status());
  }

  Clock::time_point NextSign() const {
    Clock::time_point next = soon_ > 0 ? soon_at_ : Clock::time_point::max();
    for (const Kept& kept : sessions_) next = std::min(next, kept.next);
    return next;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_. Only the thread takes any out, so that its indices stay.
  std::vector<Kept> sessions_;
  int soon_ = 0;
  Clock::time_point soon_at_;
  bool stop_ = false;
};

LeaseKeeper::LeaseKeeper() : work_(std::make_shared<Work>()) {}

LeaseKeeper::~LeaseKeeper() {
  // A forked child has no such thread.
  if (getpid() != pid_) {
    if (thread_.joinable()) thread_.detach();
    return;
  }
  work_->Stop();
  if (!thread_.joinable()) return;
  // The thread itself may hold the last session.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

absl::Status LeaseKeeper::Keep(const std::shared_ptr<SessionState>& session) {
  if (session->info().lease.count() == 0 || getpid() != pid_) return absl::OkStatus();
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
      GDNPLAN_ASSIGN_OR_RETURN(thread_, wire::StartThread([work = work_] { work->Run(); }));
    }
  }
  work_->Add(session);
  return absl::OkStatus();
}

void LeaseKeeper::SignSoon() {
  if (getpid() == pid_) work_->SignSoon();
}

}  // namespace gdnplan::client
