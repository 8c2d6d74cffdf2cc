// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Once warm, what a plan stream does for a plan between gRPC's bytes in and bytes out allocates
// nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/describe.h"
#include "server/host_device.h"
#include "server/session.h"
#include "server/submission.h"
#include "tests/server/session_testing.h"
#include "tests/testing/allocation_counter.h"
#include "tests/testing/sample_batch.h"
#include "tests/testing/status_matchers.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

// One item of a stream, used again and again.
class Item final : public server::Submission {
 public:
  void Done(const absl::StatusOr<server::PlanResult>& result) override {
    planned = result.ok();
    if (planned) server::Describe(*result, *response.mutable_plan());
  }

  v1::PlanStreamRequest request;
  v1::PlanStreamResponse response;
  bool planned = false;
};

plan::PlanConfig Config(int num_groups) {
  plan::PlanConfig config = SampleConfig();
  while (config.num_groups() < num_groups) config.groups.push_back(config.groups[1]);
  return config;
}

json::OwnedBatch AllSpeculative() {
  json::OwnedBatch batch = SampleBatch();
  batch.query_start_loc = {0, 3, 6, 9, 9};
  batch.is_prefilling = {0, 0, 0, 0};
  batch.num_decode_draft_tokens = {2, 2, 2, -1};
  batch.num_accepted_tokens = {3, 1, 2, 0};
  batch.seq_lens = {20, 40, 12, 0};
  return batch;
}

// As clients send it: with a table for each of the groups.
std::string Bytes(json::OwnedBatch batch, int num_groups) {
  while (static_cast<int>(batch.block_tables.size()) < num_groups) {
    batch.block_tables.push_back(batch.block_tables[1]);
  }
  v1::PlanStreamRequest request;
  request.set_session_id("0123456789abcdef0123456789abcdef");
  request.set_tag(7);
  wire::ToProto(batch.view(), *request.mutable_batch());
  return request.SerializeAsString();
}

void ExpectNoAllocations(const std::vector<json::OwnedBatch>& batches, int num_groups) {
  const auto boot = server::Boot::Create().value();
  server::FatalError fatal;
  server::SessionPoller poller;
  server::SessionOptions options;
  options.config = Config(num_groups);
  options.num_slots = 2;
  const auto session = server::Session::Create(
      {}, options, {std::make_shared<server::HostDevice>(boot)}, poller, fatal);
  ASSERT_THAT(session, IsOk());
  std::vector<std::string> requests;
  for (const json::OwnedBatch& batch : batches) requests.push_back(Bytes(batch, num_groups));

  std::vector<uint8_t> sent(64 << 10);
  std::vector<Item> items(3);  // the stream's ring; each sees each of the batches
  const size_t cycle = items.size() * requests.size();
  int64_t before = 0;
  for (size_t i = 0; i < 20 * cycle; ++i) {
    if (i == 2 * cycle) before = AllocationCount();
    Item& item = items[i % items.size()];
    const std::string& bytes = requests[i % requests.size()];
    item.planned = false;
    ASSERT_TRUE(item.request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    item.response.set_tag(item.request.tag());
    ASSERT_TRUE(item.Take(item.request).ok());
    (*session)->Submit(item);
    ASSERT_TRUE(item.planned);
    ASSERT_LE(item.response.ByteSizeLong(), sent.size());
    ASSERT_TRUE(item.response.SerializeToArray(sent.data(), static_cast<int>(sent.size())));
  }
  EXPECT_EQ(AllocationCount() - before, 0);
}

TEST(StreamAllocationTest, DecodesAllocateNothing) { ExpectNoAllocations({SampleDecodes()}, 2); }

TEST(StreamAllocationTest, SpeculativeBatchesAllocateNothing) {
  ExpectNoAllocations({AllSpeculative()}, 2);
}

TEST(StreamAllocationTest, MixedBatchesAllocateNothing) { ExpectNoAllocations({SampleBatch()}, 2); }

TEST(StreamAllocationTest, BatchesThatChangeFromStepToStepAllocateNothing) {
  ExpectNoAllocations({SampleDecodes(), SampleBatch(), AllSpeculative(), SampleBatch()}, 2);
}

TEST(StreamAllocationTest, ManyGroupsAllocateNothing) {
  ExpectNoAllocations({SampleBatch(), SampleDecodes()}, 16);
}

}  // namespace
}  // namespace gdnplan::test
