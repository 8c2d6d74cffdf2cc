// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The contract's messages to the core's types and back. The only place that knows both.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/plan/arena.h"
#include "gdnplan/plan/batch.h"
#include "gdnplan/plan/config.h"
#include "gdnplan/plan/counts.h"
#include "gdnplan/plan/layout.h"
#include "gdnplan/v1/batch.pb.h"
#include "gdnplan/v1/config.pb.h"
#include "gdnplan/v1/plan.pb.h"
#include "gdnplan/v1/session.pb.h"

namespace gdnplan::wire {

// Fills in defaults and checks with plan::ValidateConfig; InvalidArgument names the field. Unknown
// enum values are refused.
absl::StatusOr<plan::PlanConfig> FromProto(const v1::SessionConfig& message);
// num_slots with its default filled in.
int32_t NumSlots(const v1::SessionConfig& message);
v1::SessionConfig ToProto(const plan::PlanConfig& config, int32_t num_slots);

// A view of a batch message. The message must outlive it. `tables` backs BatchView::block_tables;
// its capacity is kept, so a warm one makes the call free of allocations. InvalidArgument on an
// unknown kind.
absl::StatusOr<plan::BatchView> FromProto(const v1::Batch& message,
                                          std::vector<plan::BlockTableView>& tables);
plan::BlockTableView FromProto(const v1::BlockTable& message);
// Copies a batch into a message, for clients. Clears the message first.
void ToProto(const plan::BatchView& batch, v1::Batch& message);
void ToProto(const plan::BlockTableView& table, v1::BlockTable& message);

v1::Staging ToProto(plan::Staging staging);
plan::Staging FromProto(v1::Staging staging);
void ToProto(const plan::PlanCounts& counts, v1::PlanCounts& message);
plan::PlanCounts FromProto(const v1::PlanCounts& message, v1::Staging staging);

// Replaces `tensors` by the present ones; `slot_offset` is the slot's place in the arena.
void ToProto(const plan::PlanLayout& layout, int64_t slot_offset,
             google::protobuf::RepeatedPtrField<v1::PlacedTensor>& tensors);

// The whole table with its capacities under this configuration.
void DescribeTensors(const plan::PlanConfig& config,
                     google::protobuf::RepeatedPtrField<v1::TensorDescription>& tensors);
void DescribeTimeline(const plan::ArenaLayout& layout, v1::Timeline& timeline);

}  // namespace gdnplan::wire
