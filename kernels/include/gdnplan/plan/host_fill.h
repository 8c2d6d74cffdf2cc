// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The fill of a slot on the host: into shared memory directly, or into the pinned image that a
// transfer moves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gdnplan/plan/layout.h"
#include "gdnplan/plan/step_input.h"

namespace gdnplan::plan {

// How far batch_ptr and token_chunk_offset_ptr of one destination may hold something other than
// kPadSlotId. Belongs to the destination: the next fill needs to rewrite only that far.
struct ConvReach {
  int32_t elements = 0;
};

// Makes a fresh slot's padded tails right: the whole conv capacity becomes kPadSlotId. Once per
// destination.
void InitializeSlot(const SlotLayout& layout, std::byte* slot);

// Writes every byte of every present tensor. `slot` has SlotLayout::slot_bytes bytes, aligned to
// kTensorAlignment, and was initialised; `in` and `layout` come from one StepPlanner. Does not
// allocate.
void FillSlot(const StepInput& in, const PlanLayout& layout, std::byte* slot, ConvReach& reach);

// Writes the state indices of one group only, after StepPlanner::Regather.
void FillGroupStates(const StepInput& in, const PlanLayout& layout, int32_t group, std::byte* slot);

}  // namespace gdnplan::plan
