// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/plan_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "gdnplan/plan/status.h"
#include "server/host_device.h"
#include "tests/server/session_testing.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"

namespace gdnplan::test {
namespace {

using server::CallKind;
using server::CallRecord;
using server::LatencyHistogram;
using server::PlanRecorder;
using server::Stage;
using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::Pair;
using Refusal = server::PlanRecorder::Refusal;

uint64_t Count(const LatencyHistogram::Counts& counts) {
  return std::accumulate(counts.buckets.begin(), counts.buckets.end(), uint64_t{0});
}

TEST(LatencyHistogramTest, ABucketHasItsBound) {
  LatencyHistogram histogram;
  histogram.Record(microseconds(2));
  histogram.Record(microseconds(2) + std::chrono::nanoseconds(1));
  histogram.Record(std::chrono::nanoseconds(-5));
  histogram.Record(std::chrono::seconds(11));
  const LatencyHistogram::Counts counts = histogram.counts();
  EXPECT_EQ(counts.buckets[0], 1u);
  EXPECT_EQ(counts.buckets[1], 1u);
  EXPECT_EQ(counts.buckets[2], 1u);
  EXPECT_EQ(counts.buckets.back(), 1u);
  EXPECT_EQ(counts.sum_ns, 11'000'004'001u);
}

TEST(PlanRecorderTest, HasEachStageOfWhatSucceeds) {
  PlanRecorder recorder;
  const server::CallTimes::Time start{std::chrono::hours(1)};
  const CallRecord plan{.times = {.received = start,
                                  .submitted = start + microseconds(1),
                                  .begun = start + microseconds(3),
                                  .enqueued = start + microseconds(7),
                                  .answered = start + microseconds(15)}};
  recorder.Record(plan);
  recorder.Record(plan);
  // It came without a message.
  CallRecord update = plan;
  update.kind = CallKind::kUpdate;
  update.times.received = {};
  recorder.Record(update);
  CallRecord refused = plan;
  refused.code = absl::StatusCode::kInvalidArgument;
  recorder.Record(refused);

  EXPECT_EQ(recorder.calls(CallKind::kPlan), 2u);
  EXPECT_EQ(recorder.calls(CallKind::kUpdate), 1u);
  EXPECT_EQ(recorder.stage(Stage::kParse).sum_ns, 2'000u);
  EXPECT_EQ(Count(recorder.stage(Stage::kParse)), 2u);
  EXPECT_EQ(recorder.stage(Stage::kWait).sum_ns, 3 * 2'000u);
  EXPECT_EQ(recorder.stage(Stage::kPlan).sum_ns, 3 * 4'000u);
  EXPECT_EQ(recorder.stage(Stage::kReady).sum_ns, 3 * 8'000u);
  EXPECT_EQ(recorder.stage(Stage::kTotal).sum_ns, 2 * 15'000u + 14'000u);
  EXPECT_EQ(Count(recorder.stage(Stage::kTotal)), 3u);
}

TEST(PlanRecorderTest, CountsRefusalsByFieldWithoutItsIndices) {
  PlanRecorder recorder;
  recorder.Refused(plan::InvalidElement("seq_lens", 3, "no"));
  recorder.Refused(plan::InvalidElement("seq_lens", 4, "no"));
  recorder.Refused(plan::InvalidField("block_tables[0].data[7]", "no"));
  recorder.Refused(absl::NotFoundError("session"));
  EXPECT_THAT(recorder.refusals(),
              ElementsAre(Pair(Refusal{absl::StatusCode::kInvalidArgument, "block_tables.data"}, 1),
                          Pair(Refusal{absl::StatusCode::kInvalidArgument, "seq_lens"}, 2),
                          Pair(Refusal{absl::StatusCode::kNotFound, ""}, 1)));
}

TEST(PlanRecorderTest, FieldsAreNotWithoutNumber) {
  PlanRecorder recorder;
  for (int i = 0; i < 1000; ++i) {
    recorder.Refused(plan::InvalidField("field_" + std::to_string(i), "no"));
  }
  const auto refusals = recorder.refusals();
  EXPECT_LE(refusals.size(), 257u);
  EXPECT_EQ(refusals.at({absl::StatusCode::kInvalidArgument, "other"}), 1000 - 256u);
}

TEST(PlanRecorderTest, TellsOfEachRefusal) {
  PlanRecorder recorder;
  int told = 0;
  recorder.SetOnRefusal([&](const absl::Status& status, uint64_t session) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_EQ(session, 7u);
    ++told;
  });
  for (int i = 0; i < 1000; ++i) recorder.Refused(absl::NotFoundError("session"), 7);
  EXPECT_EQ(told, 1000);
}

TEST(PlanRecorderTest, SessionsRecordWhatBecomesOfCalls) {
  server::FatalError fatal;
  server::SessionPoller poller;
  PlanRecorder recorder;
  auto device = std::make_shared<FakeDevice>("fake");
  server::SessionOptions options;
  options.config = SampleConfig();
  options.recorder = &recorder;
  const auto session =
      server::Session::Create({.id = "id", .number = 1}, options, {device}, poller, fatal);
  ASSERT_THAT(session, IsOk());
  const json::OwnedBatch batch = SampleBatch();
  ASSERT_THAT(Plan(**session, batch), IsOk());
  ASSERT_THAT(Update(**session, {.plan_id = 1, .group = 0, .table = batch.block_tables[0].view()}),
              IsOk());
  json::OwnedBatch bad = batch;
  bad.seq_lens[0] = 1;
  EXPECT_THAT(Plan(**session, bad), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(recorder.calls(CallKind::kPlan), 1u);
  EXPECT_EQ(recorder.calls(CallKind::kUpdate), 1u);
  EXPECT_EQ(Count(recorder.stage(Stage::kPlan)), 2u);
  EXPECT_THAT(recorder.refusals(),
              ElementsAre(Pair(Refusal{absl::StatusCode::kInvalidArgument, "seq_lens"}, 1)));
  EXPECT_EQ(recorder.device_failures(), 0u);
  device->fail_writes = true;
  EXPECT_FALSE(Plan(**session, batch).ok());
  EXPECT_EQ(recorder.device_failures(), 1u);
}

}  // namespace
}  // namespace gdnplan::test
