// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A session's configuration as it comes over the wire. Input: a serialized SessionConfig.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/status.h"
#include "tests/testing/expect_plan.h"
#include "tests/testing/planned_slot.h"
#include "tests/testing/random_batch.h"
#include "tests/testing/reference_plan.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

// A slot and a batch of a larger configuration take too long to make.
constexpr int64_t kMaxBytes = 4 << 20;

void ExpectRefusal(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.GetPayload(plan::ToAbsl(plan::kFieldPayload)).has_value());
}

void ExpectSoundArena(const plan::ArenaLayout& arena) {
  EXPECT_GE(arena.slots_offset,
            arena.promised_offset(arena.num_slots - 1) + int64_t{sizeof(uint64_t)});
  EXPECT_GE(arena.slot_stride, arena.slot.slot_bytes);
  EXPECT_GE(arena.slot.packed_capacity, plan::kMinPackedBytes);
  EXPECT_LE(arena.slot_offset(arena.num_slots - 1) + arena.slot.slot_bytes, arena.arena_bytes);
  EXPECT_EQ(arena.arena_bytes % plan::kArenaGranule, 0);
}

// One row of one token, and a row as large as the limits let it be.
void PlanSomething(const plan::PlanConfig& config) {
  for (const int32_t tokens : {1, std::min(config.max_num_batched_tokens, 4096)}) {
    json::OwnedBatch batch;
    batch.query_start_loc = {0, tokens};
    batch.seq_lens = {tokens};
    Random random(1);
    for (int32_t group = 0; group < config.num_groups(); ++group) {
      batch.block_tables.push_back(RandomBlockTable(config, group, batch, random));
    }
    PlannedSlot slot(config);
    ASSERT_TRUE(slot.Plan(batch.view()).ok());
    ExpectSoundLayout(slot);
    ExpectPlan(slot, MakeReferencePlan(config, batch.view()));
  }
}

void Run(const v1::SessionConfig& message) {
  const absl::StatusOr<plan::PlanConfig> config = wire::FromProto(message);
  if (!config.ok()) return ExpectRefusal(config.status());
  // What a session's description says of it is the same configuration.
  const int32_t num_slots = wire::NumSlots(message);
  const v1::SessionConfig described = wire::ToProto(*config, num_slots);
  const absl::StatusOr<plan::PlanConfig> again = wire::FromProto(described);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(wire::ToProto(*again, wire::NumSlots(described)).SerializeAsString(),
            described.SerializeAsString());
  const absl::StatusOr<plan::ArenaLayout> arena = plan::ArenaLayout::Create(*config, num_slots);
  if (!arena.ok()) return ExpectRefusal(arena.status());
  ExpectSoundArena(*arena);
  google::protobuf::RepeatedPtrField<v1::TensorDescription> tensors;
  wire::DescribeTensors(*config, tensors);
  EXPECT_EQ(tensors.size(), plan::kNumTensors);
  if (arena->slot.slot_bytes <= kMaxBytes) PlanSomething(*config);
}

}  // namespace
}  // namespace gdnplan::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gdnplan::v1::SessionConfig message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return -1;
  gdnplan::test::Run(message);
  return 0;
}
