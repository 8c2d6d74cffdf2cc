// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Preloaded into programs whose clock a test sets (shifted_clock.h): the calls by which the C and
// C++ libraries, Abseil and gRPC read CLOCK_REALTIME, or wait until a time of it.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

namespace {

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int64_t ShiftSeconds() {
  static const std::atomic<int64_t>* const shift_s = [] {
    static const std::atomic<int64_t> kNone{0};
    const char* path = getenv("GDNPLAN_CLOCK_SHIFT_FILE");
    const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return &kNone;
    void* memory = mmap(nullptr, sizeof(kNone), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? &kNone : static_cast<const std::atomic<int64_t>*>(memory);
  }();
  return *shift_s;
}

bool IsSystemClock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const next = Next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, now);
  if (result == 0 && IsSystemClock(clock)) now->tv_sec += ShiftSeconds();
  return result;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  static auto* const next = Next<int(timeval*, void*)>("gettimeofday");
  const int result = next(now, zone);
  if (result == 0) now->tv_sec += ShiftSeconds();
  return result;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

// Abseil waits by the futex call itself.
long syscall(long number, ...) noexcept {
  static auto* const next = Next<long(long, ...)>("syscall");
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  timespec until{};
  if (number == SYS_futex && (a[1] & FUTEX_CLOCK_REALTIME) != 0 && a[3] != 0) {
    until = *reinterpret_cast<const timespec*>(a[3]);
    until.tv_sec -= ShiftSeconds();
    a[3] = reinterpret_cast<long>(&until);
  }
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"
