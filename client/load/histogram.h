// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Counts of durations, mergeable, with percentiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gdnplan::load {

// Nanoseconds, within 1 % of their value: buckets are 1/128 of a power of two wide, as in HDR
// histograms. Values above an hour count as an hour. Recording does not allocate. Not thread safe.
class Histogram {
 public:
  struct Bucket {
    int64_t low_ns = 0;   // inclusive
    int64_t high_ns = 0;  // exclusive
    uint64_t count = 0;
  };

  Histogram();

  void Record(int64_t ns);
  void Merge(const Histogram& other);
  void Clear();

  uint64_t count() const { return count_; }
  // Exact; 0 while empty.
  int64_t min_ns() const { return count_ == 0 ? 0 : min_; }
  int64_t max_ns() const { return max_; }
  double mean_ns() const;
  // The smallest value that at least that part of the values does not exceed (nearest rank), up to
  // the bucket's width and never above max_ns. 0 while empty. percentile: 0..100.
  int64_t Percentile(double percentile) const;
  // Of those that took no longer, up to the bucket's width.
  uint64_t CountAtMost(int64_t ns) const;
  // Those that hold something, rising.
  std::vector<Bucket> NonEmpty() const;

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  int64_t min_ = std::numeric_limits<int64_t>::max();
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace gdnplan::load
