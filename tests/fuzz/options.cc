// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What holds for every target.
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

// protobuf and absl come uninstrumented from the distribution and share containers with our
// instrumented code: one side alone would keep the notes on how far a container is filled, and the
// other be accused of overrunning it.
extern "C" const char* __asan_default_options() { return "detect_container_overflow=0"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  // Nobody catches it: a failed expectation is a finding, where it stands.
  GTEST_FLAG_SET(throw_on_failure, true);
  // It writes a line for each string that is not UTF-8.
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}
