// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What must hold of a planned and filled slot.
#pragma once

#include "tests/testing/planned_slot.h"
#include "tests/testing/reference_plan.h"

namespace gdnplan::test {

// Counts, shapes and every specified element.
void ExpectPlan(const PlannedSlot& slot, const ReferencePlan& want);

// Each present tensor of each group: inside its part of the slot, aligned, apart from the others.
void ExpectSoundLayout(const PlannedSlot& slot);

}  // namespace gdnplan::test
