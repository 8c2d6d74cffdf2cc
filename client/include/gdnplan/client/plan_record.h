// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a plan's answer says, as a plain value: copy it, or send it to a worker as bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/types.h"
#include "gdnplan/plan/counts.h"

namespace gdnplan::client {

// Where one present tensor lies in the arena of every device of the session.
struct PlacedTensor {
  uint32_t id = 0;  // TensorInfo::id
  uint64_t offset = 0;
  uint64_t group_stride = 0;  // bytes from group g to g + 1; 0: one tensor serves all groups
  std::vector<uint32_t> shape;

  friend bool operator==(const PlacedTensor&, const PlacedTensor&) = default;
};

// Nothing in it is checked before Session::View does.
struct PlanRecord {
  uint64_t plan_id = 0;
  uint32_t slot = 0;
  // What the slot's `ready` becomes once the bytes are there, and what its consumer writes to
  // `consumed` after the last read.
  uint64_t timeline_value = 0;
  bool complete = false;  // whether the bytes were there when the answer left
  FillKind fill = FillKind::kUnknown;
  std::chrono::nanoseconds server_time{0};
  plan::PlanCounts counts;
  std::vector<PlacedTensor> tensors;

  // The bytes of a gdnplan.v1.Plan message. Any process that attached to the session can read them.
  std::string Serialize() const;
  // InvalidArgument when the bytes are no such message, or one with a staging of a newer version.
  static absl::StatusOr<PlanRecord> Parse(std::string_view bytes);
};

}  // namespace gdnplan::client
