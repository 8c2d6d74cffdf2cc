// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/session_poller.h"

#include <sys/prctl.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "server/session.h"

namespace gdnplan::server {
namespace {

using Clock = std::chrono::steady_clock;

// Short waits are looked at often, long ones seldom: a sixteenth of the time waited so far.
constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(20);
constexpr std::chrono::nanoseconds kLongest = std::chrono::milliseconds(1);
// An engine's step, at most: so long a write that waits for the end of one is looked at as often as
// it goes, since the next step waits for it.
constexpr std::chrono::nanoseconds kStep = std::chrono::milliseconds(100);

}  // namespace

SessionPoller::SessionPoller() : thread_([this] { Run(); }) {}

SessionPoller::~SessionPoller() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void SessionPoller::Watch(std::shared_ptr<Session> session) {
  {
    MutexLock lock(mutex_);
    newcomers_.push_back(std::move(session));
  }
  wake_.NotifyOne();
}

void SessionPoller::Ping(std::function<void()> pong) {
  {
    MutexLock lock(mutex_);
    pings_.push_back(std::move(pong));
  }
  wake_.NotifyOne();
}

bool SessionPoller::Collect(Sessions& sessions) {
  Pings pings;
  {
    MutexLock lock(mutex_);
    while (!stop_ && sessions.empty() && newcomers_.empty() && pings_.empty()) wake_.Wait(mutex_);
    if (stop_) return false;
    try {
      sessions.reserve(sessions.size() + newcomers_.size());
      std::move(newcomers_.begin(), newcomers_.end(), std::back_inserter(sessions));
      newcomers_.clear();
    } catch (const std::bad_alloc&) {
      wake_.WaitFor(mutex_, kLongest);  // the next time again
    }
    pings.swap(pings_);
  }
  for (const auto& pong : pings) pong();
  return true;
}

void SessionPoller::Sleep(std::chrono::nanoseconds interval) {
  MutexLock lock(mutex_);
  if (!stop_ && newcomers_.empty()) wake_.WaitFor(mutex_, interval);
}

void SessionPoller::Run() {
  // Otherwise the kernel makes each sleep up to 50 us longer than asked.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  Sessions sessions;
  Clock::time_point last_change = Clock::now();
  while (Collect(sessions)) {
    const Clock::time_point now = Clock::now();
    const size_t before = sessions.size();
    bool progress = false;
    bool deferred = false;
    std::erase_if(sessions, [&](const std::shared_ptr<Session>& session) {
      const Session::Progress made = session->Advance(now);
      progress = progress || made.made;
      deferred = deferred || made.deferred;
      return !made.waiting;
    });
    if (progress || sessions.size() != before) last_change = now;
    const Clock::duration waited = now - last_change;
    if (deferred && waited < kStep) {
      Sleep(kShortest);
    } else if (!sessions.empty()) {
      Sleep(std::clamp<std::chrono::nanoseconds>(waited / 16, kShortest, kLongest));
    }
  }
}

}  // namespace gdnplan::server
