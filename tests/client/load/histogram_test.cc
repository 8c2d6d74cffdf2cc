// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/histogram.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace gdnplan::load {
namespace {

constexpr int64_t kHour = int64_t{3'600} * 1'000'000'000;
constexpr double kPercentiles[] = {0, 0.1, 1, 25, 50, 75, 90, 99, 99.9, 99.99, 100};

// Over all magnitudes, as latencies with rare stalls.
std::vector<int64_t> RandomValues(uint32_t seed, size_t size) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> ns(11, 2.5);
  std::vector<int64_t> values(size);
  for (int64_t& value : values) value = std::min(static_cast<int64_t>(ns(random)), kHour);
  return values;
}

Histogram Of(const std::vector<int64_t>& values) {
  Histogram histogram;
  for (const int64_t value : values) histogram.Record(value);
  return histogram;
}

int64_t NearestRank(const std::vector<int64_t>& sorted, double percentile) {
  const auto size = static_cast<double>(sorted.size());
  const auto rank = static_cast<size_t>(std::ceil(percentile * size / 100 - 1e-9));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

TEST(HistogramTest, PercentilesAreWithinOnePercentOfTheSortedValues) {
  for (const size_t size : {1u, 2u, 3u, 10u, 999u, 1'000u, 100'000u}) {
    std::vector<int64_t> values = RandomValues(static_cast<uint32_t>(size), size);
    const Histogram histogram = Of(values);
    std::sort(values.begin(), values.end());
    for (const double percentile : kPercentiles) {
      const int64_t exact = NearestRank(values, percentile);
      const int64_t found = histogram.Percentile(percentile);
      EXPECT_GE(found, exact) << percentile << " of " << size;
      EXPECT_LE(static_cast<double>(found - exact), 0.01 * static_cast<double>(exact))
          << percentile << " of " << size;
    }
    EXPECT_EQ(histogram.min_ns(), values.front());
    EXPECT_EQ(histogram.max_ns(), values.back());
    EXPECT_EQ(histogram.Percentile(0), values.front());
    EXPECT_EQ(histogram.Percentile(100), values.back());
  }
}

TEST(HistogramTest, TheMeanIsExact) {
  const Histogram histogram = Of({1, 2, 6, 1'000'000'007});
  EXPECT_DOUBLE_EQ(histogram.mean_ns(), 250'000'004);
}

TEST(HistogramTest, RanksAreNotRoundedUp) {
  Histogram histogram;
  for (int64_t i = 1; i <= 1'000; ++i) histogram.Record(i < 1'000 ? 10 : 5'000);
  EXPECT_EQ(histogram.Percentile(99.9), 10) << "the 999th of 1000";
  EXPECT_EQ(histogram.Percentile(99.91), 5'000);
}

TEST(HistogramTest, MergeIsTheUnion) {
  const std::vector<int64_t> first = RandomValues(1, 5'000);
  const std::vector<int64_t> second = RandomValues(2, 70);
  std::vector<int64_t> both = first;
  both.insert(both.end(), second.begin(), second.end());
  Histogram merged = Of(first);
  merged.Merge(Of(second));
  const Histogram expected = Of(both);
  EXPECT_EQ(merged.count(), expected.count());
  EXPECT_EQ(merged.min_ns(), expected.min_ns());
  EXPECT_EQ(merged.max_ns(), expected.max_ns());
  EXPECT_NEAR(merged.mean_ns(), expected.mean_ns(), 1e-9 * expected.mean_ns());
  for (const double percentile : kPercentiles) {
    EXPECT_EQ(merged.Percentile(percentile), expected.Percentile(percentile)) << percentile;
  }
  merged.Merge(Histogram());
  EXPECT_EQ(merged.min_ns(), expected.min_ns());
  Histogram empty;
  empty.Merge(expected);
  EXPECT_EQ(empty, expected);
}

TEST(HistogramTest, Empty) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), 0);
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_EQ(histogram.Percentile(50), 0);
  EXPECT_EQ(histogram.CountAtMost(kHour), 0u);
  EXPECT_TRUE(histogram.NonEmpty().empty());
}

TEST(HistogramTest, OneValue) {
  const Histogram histogram = Of({61'234});
  for (const double percentile : kPercentiles) {
    EXPECT_EQ(histogram.Percentile(percentile), 61'234) << percentile;
  }
}

TEST(HistogramTest, BeyondTheLimits) {
  const Histogram histogram = Of({-5, kHour + 1, std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), kHour);
  EXPECT_EQ(histogram.Percentile(50), kHour);
  EXPECT_EQ(Of({10}).Percentile(-1), 10);
  EXPECT_EQ(Of({10}).Percentile(101), 10);
}

TEST(HistogramTest, BucketsCoverTheirValuesAndEachOther) {
  const std::vector<int64_t> values = RandomValues(3, 3'000);
  const std::vector<Histogram::Bucket> buckets = Of(values).NonEmpty();
  uint64_t sum = 0;
  int64_t end = 0;
  for (const Histogram::Bucket& bucket : buckets) {
    EXPECT_GE(bucket.low_ns, end);
    EXPECT_LT(bucket.low_ns, bucket.high_ns);
    EXPECT_LE(static_cast<double>(bucket.high_ns - 1 - bucket.low_ns),
              0.01 * static_cast<double>(bucket.low_ns));
    const auto inside = std::count_if(values.begin(), values.end(), [&](int64_t value) {
      return value >= bucket.low_ns && value < bucket.high_ns;
    });
    EXPECT_EQ(bucket.count, static_cast<uint64_t>(inside));
    sum += bucket.count;
    end = bucket.high_ns;
  }
  EXPECT_EQ(sum, values.size());
}

TEST(HistogramTest, CountsThoseThatAreNoLonger) {
  const Histogram histogram = Of({10, 20, 20, 30, 1'000'000});
  EXPECT_EQ(histogram.CountAtMost(-1), 0u);
  EXPECT_EQ(histogram.CountAtMost(9), 0u);
  EXPECT_EQ(histogram.CountAtMost(20), 3u);
  EXPECT_EQ(histogram.CountAtMost(999'999), 5u) << "the same bucket";
  EXPECT_EQ(histogram.CountAtMost(900'000), 4u);
  EXPECT_EQ(histogram.CountAtMost(1'000'000), 5u);
}

TEST(HistogramTest, ClearIsAsNew) {
  Histogram histogram = Of({1, 2, 3});
  histogram.Clear();
  EXPECT_EQ(histogram, Histogram());
}

}  // namespace
}  // namespace gdnplan::load
