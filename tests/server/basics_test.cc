// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The small parts: mutex, random ids, the boot's numbers, the queue of slow work.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "server/boot.h"
#include "server/mutex.h"
#include "server/random_id.h"
#include "server/work_queue.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::CondVar;
using server::Mutex;
using server::MutexLock;
using server::WorkQueue;

TEST(MutexTest, Excludes) {
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
}

TEST(CondVarTest, WakesAndTimesOut) {
  Mutex mutex;
  CondVar wake;
  bool set = false;
  std::thread setter([&] {
    MutexLock lock(mutex);
    set = true;
    wake.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!set) wake.Wait(mutex);
    // Nobody notifies; it may wake without cause, but not for ever.
    while (wake.WaitFor(mutex, std::chrono::milliseconds(1))) {
    }
  }
  setter.join();
}

TEST(RandomIdTest, DiffersAndPrints) {
  std::set<server::RandomId> ids;
  for (int i = 0; i < 100; ++i) ids.insert(server::MakeRandomId().value());
  EXPECT_EQ(ids.size(), 100u);
  const uint8_t bytes[] = {0x00, 0x1f, 0xa0, 0xff};
  EXPECT_EQ(server::ToHex(bytes), "001fa0ff");
}

TEST(BootTest, CountsGenerations) {
  const auto boot = server::Boot::Create();
  ASSERT_THAT(boot, IsOk());
  EXPECT_EQ((*boot)->hex(), server::ToHex((*boot)->id()));
  EXPECT_EQ((*boot)->NextGeneration(), 1u);
  EXPECT_EQ((*boot)->NextGeneration(), 2u);
  EXPECT_GE((*boot)->uptime().count(), 0);
}

TEST(WorkQueueTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> ran = 0;
  {
    WorkQueue queue({.threads = 2, .waiting = 100});
    for (int i = 0; i < 50; ++i) EXPECT_THAT(queue.Run([&] { ++ran; }), IsOk());
  }
  EXPECT_EQ(ran, 50);
}

TEST(WorkQueueTest, RefusesWhatIsTooMuch) {
  Mutex gate;
  std::atomic<bool> began = false;
  gate.Lock();
  {
    WorkQueue queue({.threads = 1, .waiting = 2});
    EXPECT_THAT(queue.Run([&] {
      began = true;
      MutexLock lock(gate);
    }),
                IsOk());
    while (!began) std::this_thread::yield();
    EXPECT_THAT(queue.Run([] {}), IsOk());
    EXPECT_THAT(queue.Run([] {}), IsOk());
    EXPECT_THAT(queue.Run([] {}), StatusIs(absl::StatusCode::kUnavailable));
    gate.Unlock();
  }
}

}  // namespace
}  // namespace gdnplan::test
