// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdnplan::load {
namespace {

constexpr int64_t kLongest = int64_t{3'600} * 1'000'000'000;
// Buckets in each power of two.
constexpr int kBits = 7;
constexpr int64_t kPerOctave = int64_t{1} << kBits;

// Values below 2 * kPerOctave have a bucket each; above, the leading kBits + 1 bits count.
constexpr size_t BucketOf(int64_t ns) {
  const auto width = static_cast<int>(std::bit_width(static_cast<uint64_t>(ns)));
  const int shift = std::max(0, width - (kBits + 1));
  return static_cast<size_t>(shift * kPerOctave + (ns >> shift));
}

constexpr int64_t LowOf(size_t bucket) {
  const auto index = static_cast<int64_t>(bucket);
  if (index < kPerOctave) return index;
  return (kPerOctave + index % kPerOctave) << (index / kPerOctave - 1);
}

constexpr size_t kBuckets = BucketOf(kLongest) + 1;

}  // namespace

Histogram::Histogram() : counts_(kBuckets) {}

void Histogram::Record(int64_t ns) {
  ns = std::clamp(ns, int64_t{0}, kLongest);
  ++counts_[BucketOf(ns)];
  ++count_;
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
  sum_ += static_cast<double>(ns);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

void Histogram::Clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = 0;
  min_ = std::numeric_limits<int64_t>::max();
  max_ = 0;
  sum_ = 0;
}

double Histogram::mean_ns() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

int64_t Histogram::Percentile(double percentile) const {
  if (count_ == 0) return 0;
  const double exact = std::clamp(percentile, 0.0, 100.0) / 100 * static_cast<double>(count_);
  // 99.9 % of 1000 is 999, also where the product rounds up a little.
  const auto rank = static_cast<uint64_t>(std::ceil(exact * (1 - 1e-12)));
  if (rank <= 1) return min_;
  if (rank >= count_) return max_;
  uint64_t seen = 0;
  for (size_t i = BucketOf(min_); i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(LowOf(i + 1) - 1, max_);
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::NonEmpty() const {
  std::vector<Bucket> buckets;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] != 0) buckets.push_back({LowOf(i), LowOf(i + 1), counts_[i]});
  }
  return buckets;
}

uint64_t Histogram::CountAtMost(int64_t ns) const {
  if (ns < 0) return 0;
  if (ns >= max_) return count_;
  uint64_t sum = 0;
  for (size_t i = 0; i <= BucketOf(ns); ++i) sum += counts_[i];
  return sum;
}

}  // namespace gdnplan::load
