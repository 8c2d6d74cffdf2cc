// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The error that a process does not get over: a lost CUDA context takes every session of the
// process with it, and only a new process gets another one.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "gdnplan/plan/status.h"
#include "server/mutex.h"

namespace gdnplan::server {

// Sessions tell it of every device error; the first sticky one goes to the handler. Thread safe.
class FatalError {
 public:
  // Called once, on the thread that met the error, which may hold a session's lock: it must not
  // block and not call sessions.
  using Handler = std::function<void(const absl::Status& error)>;

  void Note(const absl::Status& status) {
    if (!plan::IsSticky(status)) return;
    MutexLock lock(mutex_);
    if (!error_.ok()) return;
    error_ = status;
    if (handler_) handler_(error_);
  }

  // What there was; OK: nothing.
  absl::Status error() const {
    MutexLock lock(mutex_);
    return error_;
  }

  // Called at once if there was an error before. nullptr: no more; no call is under way after that.
  void SetHandler(Handler handler) {
    MutexLock lock(mutex_);
    handler_ = std::move(handler);
    if (handler_ && !error_.ok()) handler_(error_);
  }

 private:
  mutable Mutex mutex_;
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gdnplan::server
