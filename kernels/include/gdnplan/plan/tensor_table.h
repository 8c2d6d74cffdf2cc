// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The one table of tensors: the arena's layout, the protocol's descriptions and the clients' views
// come from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "gdnplan/plan/config.h"

namespace gdnplan::plan {

// In the order in which a slot holds them. The tensors that a staged plan has come first, so that
// their places depend on the row count alone.
enum class TensorId : uint8_t {
  kNonSpecQueryStartLoc,
  kNonSpecStateIndices,
  kSpecQueryStartLoc,
  kNumAcceptedTokens,
  kSpecSequenceMasks,
  kSpecStateIndices,
  kSpecTokenIndx,
  kNonSpecTokenIndx,
  kHasInitialState,
  kPrefillQueryStartLoc,
  kPrefillStateIndices,
  kPrefillHasInitialState,
  kChunkOffsets,
  kChunkIndices,
  kNums,
  kBatchPtr,
  kTokenChunkOffsetPtr,
};
inline constexpr int kNumTensors = 17;

enum class DType : uint8_t { kInt32, kUInt8 };
constexpr int64_t SizeOf(DType dtype) { return dtype == DType::kInt32 ? 4 : 1; }

struct TensorSpec {
  TensorId id;
  std::string_view name;   // as engines spell it
  std::string_view shape;  // for people: the dimensions in terms of the plan's counts
  DType dtype;
  bool per_group;    // one of these per KV-cache group
  int rank;          // 1 or 2, the group's dimension not counted
  bool fixed_place;  // at the slot's end, its padded tail kept from plan to plan
  // The most elements that one (group's) tensor can have within the limits.
  int64_t (*capacity)(const PlanConfig& config);
};

// Indexed by TensorId.
const std::array<TensorSpec, kNumTensors>& TensorTable();
inline const TensorSpec& Spec(TensorId id) { return TensorTable()[static_cast<size_t>(id)]; }
std::optional<TensorId> FindTensor(std::string_view name);

}  // namespace gdnplan::plan
