// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/plan_trace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gdnplan::server {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr mode_t kTraceMode = 0666;  // less the process' mask
constexpr char kNoFile[] = "it is no regular file";
constexpr char kTaken[] = "another server writes to it";

double Microseconds(CallTimes::Time::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// Makes an old trace an empty one, which is this process' until it closes the file. The reason if
// it cannot be, else null.
const char* Empty(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return std::strerror(errno);
  if (S_ISCHR(info.st_mode)) return nullptr;
  if (!S_ISREG(info.st_mode)) return kNoFile;
  // A file system without locks is no reason to have no trace.
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return kTaken;
  return ftruncate(fd, 0) == 0 ? nullptr : std::strerror(errno);
}

std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

}  // namespace

absl::StatusOr<std::shared_ptr<PlanTrace>> PlanTrace::Create(const std::string& path, Limits limits,
                                                             OnEnd on_end) {
  // Opening a FIFO would wait for a reader, and writing to it, too.
  const int fd = open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kTraceMode);
  const char* reason = fd < 0 ? (errno == ENXIO ? kNoFile : std::strerror(errno)) : Empty(fd);
  std::FILE* file = nullptr;
  if (reason == nullptr) {
    file = fdopen(fd, "w");
    if (file == nullptr) reason = std::strerror(errno);
  }
  if (file == nullptr) {
    if (fd >= 0) close(fd);
    return absl::FailedPreconditionError(
        absl::StrCat("trace-file: cannot write ", path, ": ", reason));
  }
  return std::shared_ptr<PlanTrace>(new PlanTrace(path, file, limits, std::move(on_end)));
}

PlanTrace::PlanTrace(std::string path, std::FILE* file, Limits limits, OnEnd on_end)
    : path_(std::move(path)), limits_(limits), file_(file), on_end_(std::move(on_end)) {
  waiting_.reserve(limits_.max_waiting);
  thread_ = std::thread([this] { Run(); });
}

PlanTrace::~PlanTrace() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
  std::fputs(first_ ? "[]\n" : "\n]\n", file_);
  std::fclose(file_);
}

void PlanTrace::Add(const CallRecord& call) {
  MutexLock lock(mutex_);
  if (waiting_.size() < limits_.max_waiting) {
    waiting_.push_back(call);
  } else {
    ++num_left_out_;
  }
}

uint64_t PlanTrace::num_left_out() const {
  MutexLock lock(mutex_);
  return num_left_out_;
}

void PlanTrace::Run() {
  std::vector<CallRecord> calls;
  calls.reserve(limits_.max_waiting);
  bool stop = false;
  while (!stop) {
    {
      MutexLock lock(mutex_);
      if (!stop_) wake_.WaitFor(mutex_, kInterval);
      stop = stop_;
      calls.swap(waiting_);
    }
    for (const CallRecord& call : calls) Write(call);
    calls.clear();
    Flush();
  }
}

void PlanTrace::Flush() {
  if (std::fflush(file_) != 0) EndForError();
}

void PlanTrace::EndForError() {
  End(absl::UnavailableError(
      absl::StrCat("trace-file: cannot write ", path_, ": ", std::strerror(errno))));
}

void PlanTrace::End(absl::Status why) {
  if (ended_) return;
  ended_ = true;
  if (on_end_) on_end_(why);
}

void PlanTrace::Write(const CallRecord& call) {
  const CallTimes& times = call.times;
  const CallTimes::Time start =
      times.received == CallTimes::kNever ? times.submitted : times.received;
  const std::string args =
      call.code == absl::StatusCode::kOk
          ? absl::StrFormat(R"("plan_id":%d,"slot":%d,"num_decodes":%d,"num_prefills":%d,)"
                            R"("num_spec_decodes":%d)",
                            call.plan_id, call.slot, call.counts.num_decodes,
                            call.counts.num_prefills, call.counts.num_spec_decodes)
          : absl::StrFormat(R"("error":"%s")", CodeName(call.code));
  const bool written = Put(absl::StrFormat(
      R"({"name":"%s","cat":"call","ph":"X","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{%s}})",
      call.kind == CallKind::kPlan ? "plan" : "update", getpid(), call.session,
      Microseconds(start.time_since_epoch()), Microseconds(times.answered - start), args));
  if (!written) {
    MutexLock lock(mutex_);
    ++num_left_out_;
    return;
  }
  WriteStage(call, "parse", times.received, times.submitted);
  WriteStage(call, "wait", times.submitted, times.begun);
  WriteStage(call, "plan", times.begun, times.enqueued);
  WriteStage(call, "ready", times.enqueued, times.answered);
}

void PlanTrace::WriteStage(const CallRecord& call, const char* name, CallTimes::Time from,
                           CallTimes::Time to) {
  if (from == CallTimes::kNever || to == CallTimes::kNever) return;
  Put(absl::StrFormat(
      R"({"name":"%s","cat":"stage","ph":"X","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f})", name,
      getpid(), call.session, Microseconds(from.time_since_epoch()), Microseconds(to - from)));
}

bool PlanTrace::Put(const std::string& text) {
  if (ended_) return false;
  const char* before = first_ ? "[\n" : ",\n";
  const uint64_t bytes = std::strlen(before) + text.size();
  if (bytes_ + bytes > limits_.max_bytes) {
    End(absl::ResourceExhaustedError(
        absl::StrCat("trace-file: ", path_, " has reached ", limits_.max_bytes, " bytes")));
    return false;
  }
  bytes_ += bytes;
  first_ = false;
  if (std::fputs(before, file_) < 0 ||
      std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    EndForError();
  }
  return !ended_;
}

}  // namespace gdnplan::server
