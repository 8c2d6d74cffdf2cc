// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A process that gets no more threads, for a while.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

namespace gdnplan::test {

// While it lives, threads that ask for no stack size of their own, as std::thread, are refused: no
// address space has room for theirs.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t none;
    EXPECT_EQ(pthread_getattr_default_np(&usual_), 0);
    EXPECT_EQ(pthread_getattr_default_np(&none), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&none, size_t{1} << 50), 0);
    EXPECT_EQ(pthread_setattr_default_np(&none), 0);
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&usual_), 0);
    pthread_attr_destroy(&usual_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t usual_{};
};

}  // namespace gdnplan::test
