// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// How long something took, counted without a lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gdnplan::server {

// Thread safe. A reader may see a value's count without its sum.
class LatencyHistogram {
 public:
  // Upper bounds of the buckets, each with its bound; a last bucket has what is above all of them.
  // Dense where a plan takes its time, from one microsecond to ten seconds.
  static constexpr std::array<uint64_t, 28> kBoundsNs = {
      1'000,         2'000,         3'000,         5'000,          7'000,      10'000,
      15'000,        20'000,        30'000,        50'000,         70'000,     100'000,
      150'000,       200'000,       300'000,       500'000,        700'000,    1'000'000,
      2'000'000,     5'000'000,     10'000'000,    20'000'000,     50'000'000, 100'000'000,
      1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000,
  };

  void Record(std::chrono::nanoseconds time) {
    const uint64_t ns = time.count() > 0 ? static_cast<uint64_t>(time.count()) : 0;
    const auto bound = std::lower_bound(kBoundsNs.begin(), kBoundsNs.end(), ns);
    counts_[static_cast<size_t>(bound - kBoundsNs.begin())].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(ns, std::memory_order_relaxed);
  }

  struct Counts {
    std::array<uint64_t, kBoundsNs.size() + 1> buckets = {};  // not cumulated
    uint64_t sum_ns = 0;
  };
  Counts counts() const {
    Counts counts;
    for (size_t i = 0; i < counts_.size(); ++i) {
      counts.buckets[i] = counts_[i].load(std::memory_order_relaxed);
    }
    counts.sum_ns = sum_ns_.load(std::memory_order_relaxed);
    return counts;
  }

 private:
  std::array<std::atomic<uint64_t>, kBoundsNs.size() + 1> counts_ = {};
  std::atomic<uint64_t> sum_ns_ = 0;
};

}  // namespace gdnplan::server
