// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program whose threads a test refuses: from the one whose number
// GDNPLAN_REFUSED_THREAD says on, counting from 1, std::thread gets none, as where the system's
// limit is met. Threads that C libraries make for themselves are not counted, and gRPC ends the
// process without.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

bool IsOfStandardLibrary(const void* caller) {
  Dl_info info{};
  return dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, "libstdc++") != nullptr;
}

bool Refuses() {
  static std::atomic<int> number{0};
  const char* first = getenv("GDNPLAN_REFUSED_THREAD");
  return first != nullptr && ++number >= std::atoi(first);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const next = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (IsOfStandardLibrary(__builtin_return_address(0)) && Refuses()) return EAGAIN;
  return next(thread, attributes, run, argument);
}
