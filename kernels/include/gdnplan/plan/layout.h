// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where a plan's tensors lie: within a slot, and the slots within an arena.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::plan {

// Every tensor, and every group's part of a per-group one, starts at a multiple of this many bytes.
inline constexpr int64_t kTensorAlignment = 128;
inline constexpr int64_t kGroupAlignment = 16;

// Transfers of this size and above are sure to use a copy engine; a slot has room for one.
inline constexpr int64_t kMinPackedBytes = 32 << 10;

// One tensor of one plan. A per-group tensor is an array of num_groups of them, group_stride bytes
// apart.
struct TensorExtent {
  bool present = false;
  int64_t offset = 0;                    // bytes from the slot's start
  int64_t group_stride = 0;              // bytes; 0 for a shared tensor
  std::array<int32_t, 2> dims = {0, 0};  // the second is 0 where the rank is 1

  friend bool operator==(const TensorExtent&, const TensorExtent&) = default;
};

// Elements of one group's tensor.
constexpr int64_t NumElements(const TensorSpec& spec, const TensorExtent& extent) {
  return spec.rank == 2 ? int64_t{extent.dims[0]} * extent.dims[1] : extent.dims[0];
}

// A plan's places. Present tensors of varying size are packed from the slot's start in the table's
// order, so that one transfer moves them; [0, packed_bytes) holds them all. Tensors of fixed place
// lie behind.
struct PlanLayout {
  TensorExtent tensors[kNumTensors] = {};  // a plain array: kernels index it
  int64_t packed_bytes = 0;

  const TensorExtent& operator[](TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  TensorExtent& operator[](TensorId id) { return tensors[static_cast<size_t>(id)]; }

  friend bool operator==(const PlanLayout&, const PlanLayout&) = default;
};

// A session's slots: every one is alike. Immutable, freely copied.
struct SlotLayout {
  explicit SlotLayout(const PlanConfig& config);

  int64_t packed_capacity = 0;  // bytes for the packed tensors, at least kMinPackedBytes
  int64_t batch_ptr_offset = 0;
  int64_t token_chunk_offset_ptr_offset = 0;
  int64_t conv_capacity = 0;  // elements of each of these two
  int64_t slot_bytes = 0;     // a multiple of kTensorAlignment
};

}  // namespace gdnplan::plan
