// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/ticker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace gdnplan::load {
namespace {

TEST(TickerTest, CallsUntilItGoes) {
  int calls = 0;
  std::promise<void> third;
  {
    const Ticker ticker(std::chrono::milliseconds(1), [&] {
      if (++calls == 3) third.set_value();
    });
    third.get_future().wait();
  }
  EXPECT_GE(calls, 3);
}

TEST(TickerTest, NobodyWaitsForItsPause) {
  const Ticker ticker(std::chrono::hours(1), [] { FAIL(); });
}

}  // namespace
}  // namespace gdnplan::load
