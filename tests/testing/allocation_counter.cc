// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/allocation_counter.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);

std::atomic<int64_t> allocations{0};

// See FailingAllocations.
struct Failing {
  bool on = false;
  bool all = false;
  int64_t allowed = 0;
  int64_t failed = 0;
};
thread_local Failing failing;

bool MustFail() {
  if (!failing.on || --failing.allowed >= 0) return false;
  if (failing.failed > 0 && !failing.all) return false;
  ++failing.failed;
  return true;
}

// nullptr: it is to fail.
void* Allocate(size_t bytes, size_t alignment, const std::nothrow_t& /*tag*/) {
  ++allocations;
  if (MustFail()) return nullptr;
  // aligned_alloc takes whole multiples of the alignment.
  const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) std::abort();
  return memory;
}

void* Allocate(size_t bytes, size_t alignment) {
  void* memory = Allocate(bytes, alignment, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Every form: a sanitizer brings its own of those that are left out, and they do not match ours.
void* operator new(size_t bytes) { return Allocate(bytes, kAlignment); }
void* operator new[](size_t bytes) { return Allocate(bytes, kAlignment); }
void* operator new(size_t bytes, const std::nothrow_t& tag) noexcept {
  return Allocate(bytes, kAlignment, tag);
}
void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept {
  return Allocate(bytes, kAlignment, tag);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace gdnplan::test {

int64_t AllocationCount() { return allocations; }

FailingAllocations::FailingAllocations(int64_t allowed, Which which) {
  failing = {.on = true, .all = which == Which::kAll, .allowed = allowed, .failed = 0};
}
FailingAllocations::~FailingAllocations() { failing.on = false; }
int64_t FailingAllocations::failed() const { return failing.failed; }

}  // namespace gdnplan::test
