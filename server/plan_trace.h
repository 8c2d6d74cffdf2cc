// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A file of calls with their stages, as chrome://tracing and Perfetto read it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/call_record.h"
#include "server/mutex.h"

namespace gdnplan::server {

// JSON in the trace event format: complete events, a track for each session, times in microseconds
// of the steady clock. The closing bracket, which the format does not need, comes last. Thread
// safe.
class PlanTrace {
 public:
  struct Limits {
    uint64_t max_bytes = uint64_t{1} << 30;  // of the file; what comes after that is left out
    size_t max_waiting = 65536;              // calls that are not yet written
  };

  // FailedPrecondition, with the reason, where the file cannot be written. An old one is replaced.
  // `on_end` is told once, from the trace's thread, why the file has no more calls from then on.
  using OnEnd = std::function<void(const absl::Status& why)>;
  static absl::StatusOr<std::shared_ptr<PlanTrace>> Create(const std::string& path, Limits limits,
                                                           OnEnd on_end = nullptr);
  static absl::StatusOr<std::shared_ptr<PlanTrace>> Create(const std::string& path) {
    return Create(path, Limits());
  }
  // Writes what waits.
  ~PlanTrace();

  // Takes a copy; a thread of the trace's own writes it. Does not allocate.
  void Add(const CallRecord& call);

  // Calls that are not in the file, for want of room.
  uint64_t num_left_out() const;

 private:
  PlanTrace(std::string path, std::FILE* file, Limits limits, OnEnd on_end);
  void Run();
  void Flush();
  void Write(const CallRecord& call);
  void WriteStage(const CallRecord& call, const char* name, CallTimes::Time from,
                  CallTimes::Time to);
  // Whether there is room for it.
  bool Put(const std::string& text);
  // Nothing goes to the file any more.
  void End(absl::Status why);
  void EndForError();  // errno's

  const std::string path_;
  const Limits limits_;
  std::FILE* const file_;
  const OnEnd on_end_;
  // Of the writing thread.
  bool ended_ = false;
  uint64_t bytes_ = 0;
  bool first_ = true;

  mutable Mutex mutex_;
  CondVar wake_;
  std::vector<CallRecord> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t num_left_out_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gdnplan::server
